"""Tables as the programs of the recipes write them, all of the same powers."""

import json

POWERS = [20.5, 31.25, 30.75, 44.5, 22.25, 21.0]
UNIX_S = 1_700_000_000


def lines(rows, *head):
    return "\n".join([*head, *rows]) + "\n"


STAMPED = [(f"2026-08-17 12:00:{n:02d}", power) for n, power in enumerate(POWERS)]
COUNTED_WH = [sum(POWERS[1 : n + 1]) / 3600 for n in range(len(POWERS))]
WH = [power / 60 for power in POWERS]
POWERSTAT = "{} 1.1 0.0 0.6 98.3 0.0 1 1375 270 {:.2f}"

FILES = {
    "wattsup-c": lines([f"{p:.1f}, 120.0, {p / 120:.3f}" for p in POWERS], "watts, volts, amps"),
    "perf-stat": lines(
        [
            f"     {n + 1}.000000013     {part:.4f} Joules {event}"
            for n, p in enumerate(POWERS)
            for event, part in (("power/energy-pkg/", p - 1), ("power/energy-ram/", 1.0))
        ],
        "# started on Mon Aug 17 12:00:00 2026",
        "#           time             counts   unit events",
    ),
    "perf-stat-x": lines(
        [
            f"{n + 1}.000000013,{p:.4f},Joules,power/energy-pkg/,1000,100.00,,"
            for n, p in enumerate(POWERS)
        ],
        "# started on Mon Aug 17 12:00:00 2026",
        "",
    ),
    "turbostat": lines(
        [
            row
            for n, p in enumerate(POWERS)
            for row in (
                *(["Time_Of_Day_Seconds\tBusy%\tPkgWatt"] if n == 3 else []),
                f"{UNIX_S + n}.0000{n}2\t3.2\t{p:.2f}",
            )
        ],
        "Time_Of_Day_Seconds\tBusy%\tPkgWatt",
    ),
    "powerstat": lines(
        [
            *(
                POWERSTAT.format(f"23:59:{57 + n}" if n < 3 else f"00:00:0{n - 3}", p)
                for n, p in enumerate(POWERS)
            ),
            "-------- ----- ----- ----- ----- ----- ---- ------ ------ ------",
            " Average   2.2   0.0   1.0  96.6   0.1  1.1 1477.2  455.8  22.70",
            "Summary:",
            "System:  22.70 Watts on average with standard deviation 8.21",
        ],
        "Running for 300 seconds (30 samples at 10 second intervals).",
        "",
        "  Time    User  Nice   Sys  Idle    IO  Run Ctxt/s  IRQ/s  Watts",
    ),
    "powerstat-rapl": lines(
        [
            *(POWERSTAT.format(f"12:00:0{n}", p) for n, p in enumerate(POWERS)),
            "-------- ----- ----- ----- ----- ----- ---- ------ ------ ------",
            "Summary:",
            "CPU:  28.38 Watts on average with standard deviation 8.21",
            "Note: power read from RAPL domains: package-0.",
        ],
        "  Time    User  Nice   Sys  Idle    IO  Run Ctxt/s  IRQ/s  Watts",
    ),
    "codecarbon": lines(
        [
            f"2026-08-17T12:00:0{n + 1},run,{n + 1}.0000000001,{wh / 1000!r}"
            for n, wh in enumerate(COUNTED_WH[1:])
        ],
        "timestamp,run_id,duration,energy_consumed",
    ),
    "nvidia-smi": lines(
        [
            f"2026/08/17 12:00:{n:02d}.{313 + gpu}, {gpu}, {p / 2:.2f} W"
            for n, p in enumerate(POWERS)
            for gpu in (0, 1)
        ],
        "timestamp, index, power.draw [W]",
    ),
    "shelly-em": lines(
        [f"{UNIX_S + 60 * n},{wh / 2:.4f},{wh / 4:.4f},{wh / 4:.4f}" for n, wh in enumerate(WH)],
        "timestamp,a_total_act_energy,b_total_act_energy,c_total_act_energy",
    ),
    "tasmota-log": lines(
        [
            "tele/plug/SENSOR "
            + json.dumps({"Time": stamp.replace(" ", "T"), "ENERGY": {"Power": p, "Voltage": 230}})
            for stamp, p in STAMPED
        ],
        'tele/plug/STATE {"Time":"2026-08-17T12:00:00","POWER":"ON"}',
    ),
    "kasa-log": lines(
        [
            f"{stamp} " + json.dumps({"voltage_mv": 230000, "power_mw": round(1000 * p)})
            for stamp, p in STAMPED
        ]
    ),
    "home-assistant": lines(
        [f"sensor.plug_power,{p},2026-08-17T12:00:{10 * n:02d}.000Z" for n, p in enumerate(POWERS)],
        "entity_id,state,last_changed",
    ),
    "gude-log": lines([f'{stamp} {{"ActivePower": {p}, "Voltage": 230}}' for stamp, p in STAMPED]),
    "wt310": lines(
        [f"1,{stamp.replace(' ', ',')},230.01,{p / 230.01:.5E},{p:.5E}" for stamp, p in STAMPED],
        "WT310E,C2RE01010V",
        "Store No.,Date,Time,U-1,I-1,P-1",
    ),
    "joulemeter": lines(
        [f"{1000 * n}, {p:.2f}, 3.1" for n, p in enumerate(POWERS)],
        "TimeStamp (ms), Total Power (W), CPU (W)",
    ),
    "pmt": lines(
        [
            *(f"{UNIX_S + n}.100 {p:.3f} {p - 1:.3f}" for n, p in enumerate(POWERS[:3])),
            'M 2.031 "start of 7 s"',
            *(f"{UNIX_S + n}.100 {p:.3f} {p - 1:.3f}" for n, p in enumerate(POWERS[3:], 3)),
        ],
        "timestamp total package-0",
    ),
    "pmt-gpu": lines(
        [f"{UNIX_S + n}.100 {p:.3f} {p - 1:.3f}" for n, p in enumerate(POWERS)],
        "timestamp gpu_instant gpu_average",
    ),
}

TRAPEZOID_J = sum(POWERS) - (POWERS[0] + POWERS[-1]) / 2
ENERGIES_J = dict.fromkeys(FILES, TRAPEZOID_J) | {
    "perf-stat": sum(POWERS),
    "perf-stat-x": sum(POWERS),
    "codecarbon": sum(POWERS[1:]),
    "turbostat": sum(POWERS[1:]),
    "powerstat-rapl": sum(POWERS[1:]),
    "pmt": sum(POWERS[1:]),
    "shelly-em": 60 * sum(POWERS[1:]),
    "home-assistant": 10 * sum(POWERS[:-1]),
}
