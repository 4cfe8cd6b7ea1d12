//! Who uses a device, its disk, or a partition of it.

use std::fs;

use super::refusal::Refusal;
use super::{kernel, loops};

/// How a device is used, by the kernel's name of it; None when it is free as far as this mount
/// namespace knows. Refuses one of which that cannot be known.
pub fn of(name: &str) -> Result<Option<String>, Refusal> {
    let family = kernel::family(name);
    let is_ours = |path: &str| kernel::name_of_path(path).is_some_and(|n| family.contains(&n));
    let known = mounted(&family, &is_ours)
        .or_else(|| swapped(&is_ours))
        .or_else(|| family.iter().find_map(|name| held(name)));
    match known {
        Some(how) => Ok(Some(how)),
        None => behind_a_loop(&family),
    }
}

fn mounted(family: &[String], is_ours: &dyn Fn(&str) -> bool) -> Option<String> {
    let numbers: Vec<String> = family
        .iter()
        .filter_map(|name| kernel::line(&kernel::folder(name).join("dev")))
        .collect();
    let text = fs::read("/proc/self/mountinfo").ok()?;
    String::from_utf8_lossy(&text).lines().find_map(|line| {
        let (place, file_system) = line.split_once(" - ")?;
        let fields: Vec<&str> = place.split(' ').collect();
        let (number, point) = (*fields.get(2)?, *fields.get(4)?);
        let source = file_system.split(' ').nth(1)?;
        // Some file systems have numbers of their own.
        let is_mounted = numbers.iter().any(|own| own == number) || is_ours(source);
        is_mounted.then(|| format!("{source} is mounted on {point}"))
    })
}

fn swapped(is_ours: &dyn Fn(&str) -> bool) -> Option<String> {
    let text = fs::read_to_string("/proc/swaps").ok()?;
    let sources = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    sources
        .filter(|source| is_ours(source))
        .map(|source| format!("{source} is swap space"))
        .next()
}

fn held(name: &str) -> Option<String> {
    let holders = fs::read_dir(kernel::folder(name).join("holders")).ok()?;
    let holder = holders.flatten().next()?.file_name();
    let holder = holder.to_string_lossy();
    Some(format!("/dev/{name} is held by {holder}"))
}

fn behind_a_loop(family: &[String]) -> Result<Option<String>, Refusal> {
    for other in loops::attached().filter(|other| !family.contains(other)) {
        let Some(found) = loops::behind(&other)? else {
            continue;
        };
        let own = |name: &&String| kernel::number(name) == Some(found.number);
        if let Some(name) = family.iter().find(own) {
            let how = format!("/dev/{name} is behind the loop device /dev/{other}");
            return Ok(Some(how));
        }
    }
    Ok(None)
}
