"""Sensor chips on rails (hwmon, INA2xx)."""
