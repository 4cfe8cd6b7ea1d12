//! Times of versions: microseconds since 1970, as `2026-11-25T20:31:09.123456Z`.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::sys;

const SECOND_US: i64 = 1_000_000;

/// Now, in microseconds since 1970.
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}

/// A time in UTC. Texts are in the order of the times.
pub fn utc(at_us: i64) -> String {
    format!("{}Z", text(at_us, true))
}

/// A time in the zone of this machine; in UTC where that would be read as another one, in an hour that
/// comes twice.
pub fn local(at_us: i64) -> String {
    let local = text(at_us, false);
    match read(&local) == Some(at_us) {
        true => local,
        false => utc(at_us),
    }
}

/// The day of a time in the zone of this machine.
pub fn day(at_us: i64) -> String {
    text(at_us, false)[..10].to_owned()
}

fn text(at_us: i64, is_utc: bool) -> String {
    let time = sys::calendar(at_us.div_euclid(SECOND_US), is_utc);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
        time.tm_year + 1900,
        time.tm_mon + 1,
        time.tm_mday,
        time.tm_hour,
        time.tm_min,
        time.tm_sec,
        at_us.rem_euclid(SECOND_US)
    )
}

/// The time that a text says: a day, or with a time of day as far as it is given; in UTC if it ends
/// with `Z`. None if it says none.
pub fn read(text: &str) -> Option<i64> {
    let (text, is_utc) = match text.strip_suffix('Z') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (text, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let (day, hour) = text.split_once(['T', ' ']).unwrap_or((text, "0"));
    let [year, month, day] = numbers(day, '-', 3)?[..] else {
        return None;
    };
    let hour = numbers(hour, ':', 3)?;
    let at = |index: usize| hour.get(index).copied().unwrap_or(0);
    // Whatever a calendar lacks would become another day.
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if at(0) > 23 || at(1) > 59 || at(2) > 60 || fraction.len() > 6 {
        return None;
    }
    let micros = numbers(&format!("{fraction:0<6}"), '.', 1)?[0];
    let mut time = sys::calendar(0, true);
    (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, month - 1, day);
    (time.tm_hour, time.tm_min, time.tm_sec) = (at(0), at(1), at(2));
    let at_us = sys::since_1970(time, is_utc) * SECOND_US + i64::from(micros);
    (sys::calendar(at_us / SECOND_US, is_utc).tm_mday == day || at(2) == 60).then_some(at_us)
}

/// Up to so many numbers between separators.
fn numbers(text: &str, separator: char, most: usize) -> Option<Vec<i32>> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<_> = text.split(separator).collect();
    if parts.len() > most || !parts.iter().all(|part| is_digits(part)) {
        return None;
    }
    parts.into_iter().map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version would be looked for at another time than a person named.
    #[test]
    fn times_are_read_as_they_are_written() {
        let at_us = 1_795_638_669_123_456;
        assert_eq!(utc(at_us), "2026-11-25T20:31:09.123456Z");
        assert_eq!(read(&utc(at_us)), Some(at_us));
        assert_eq!(read(&local(at_us)), Some(at_us));
        assert_eq!(read("2026-11-25 20:31Z"), Some(1_795_638_660_000_000));
        assert_eq!(read("1970-01-02Z"), Some(86_400 * SECOND_US));
        for wrong in [
            "",
            "now",
            "2026-02-30Z",
            "2026-13-01",
            "2026-1",
            "2026-11-25T25:00",
            "2026-11-25T1:2:3.4567890",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
