//! The profiles that are built into the program.

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../disks/", $name, ".toml")))),*]
    };
}

/// Names and files, by alphabet.
pub(super) const ALL: &[(&str, &str)] = shipped![
    "atlas15k-18wls",
    "ddys-t36950n",
    "greenfs08-desktop",
    "greenfs08-notebook",
    "greenfs08-server",
    "st4000nm0033",
    "sun14-ssd-k",
    "sun14-ssd-s",
    "wd200bb",
    "x25-m-g2",
    "x25-m-g2-slowed",
];
