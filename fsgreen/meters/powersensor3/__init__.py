"""PowerSensor3: 20 kHz on up to four rails, over USB, and its dumps."""
