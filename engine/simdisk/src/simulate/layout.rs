//! Where files lie on a device.

use serde::{Deserialize, Serialize};

use crate::device::{Extent, SECTOR_B};
use crate::profile::Fault;

/// Equal parts that a device has; 1 is the outermost (nfstricks03, section 4.2).
pub const PARTITIONS: u32 = 4;

/// Parts begin at multiples of 4 KiB.
const ALIGNMENT: u64 = 4096 / SECTOR_B;

/// How a file system places files; every file is in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One behind the other from the start: files that are written in turn into one directory of
    /// an empty FFS, which fills the cylinder group of the directory and then those behind it
    /// (`ffs_blkpref`, `ffs_hashalloc`).
    #[default]
    Adjacent,
    /// At equal distances over the whole part: files of as many directories, which FFS puts into
    /// different cylinder groups.
    Spread,
}

/// A part of a device, or all of it.
///
/// # Errors
/// If there is no such part.
pub fn part(sectors: u64, partition: Option<u32>) -> Result<Extent, Fault> {
    let begin = |nth: u32| sectors * u64::from(nth) / u64::from(PARTITIONS) / ALIGNMENT * ALIGNMENT;
    match partition {
        None => Ok(Extent { sector: 0, sectors }),
        Some(nth @ 1..=PARTITIONS) => Ok(Extent {
            sector: begin(nth - 1),
            sectors: begin(nth) - begin(nth - 1),
        }),
        Some(nth) => Err(Fault::new(
            format!("there is no partition {nth}"),
            "partition",
            format!("give 1 (outermost) to {PARTITIONS}, or none for the whole device"),
        )),
    }
}

/// Where so many equal files lie.
///
/// # Errors
/// If they do not fit.
pub fn files(
    part: Extent,
    placement: Placement,
    count: u32,
    size: u64,
) -> Result<Vec<Extent>, Fault> {
    let count = u64::from(count);
    if count.saturating_mul(size) > part.sectors {
        return Err(too_large(count, count.saturating_mul(size), part));
    }
    let distance = match placement {
        Placement::Adjacent => size,
        Placement::Spread => (part.sectors / count / ALIGNMENT * ALIGNMENT).max(size),
    };
    let begins = (0..count).map(|nth| part.sector + nth * distance);
    Ok(begins
        .map(|sector| Extent {
            sector,
            sectors: size,
        })
        .collect())
}

/// Where files of these sizes lie, one behind the other.
///
/// # Errors
/// If they do not fit.
pub fn in_turn(part: Extent, sizes: impl Iterator<Item = u64>) -> Result<Vec<Extent>, Fault> {
    let mut places = Vec::new();
    let mut sector = part.sector;
    for sectors in sizes {
        places.push(Extent { sector, sectors });
        sector = sector.saturating_add(sectors);
    }
    if sector > part.end() {
        return Err(too_large(places.len() as u64, sector - part.sector, part));
    }
    Ok(places)
}

fn too_large(count: u64, sectors: u64, part: Extent) -> Fault {
    let mib = |sectors: u64| sectors / ((1 << 20) / SECTOR_B);
    Fault::new(
        format!(
            "{count} files of together {} MiB do not fit into {} MiB",
            mib(sectors),
            mib(part.sectors)
        ),
        "the files of the readers",
        "give a smaller total_mib, or the whole device instead of a partition",
    )
}
