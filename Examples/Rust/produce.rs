//! Publishes the JSON lines of standard input as one segment, without a crate: rustc -O produce.rs && SPOOL=folder ./produce
//!
//! When it ends with 0 the segment is on the disk, whole, and counts after a power cut. When it ends in any other way there is no segment, but perhaps
//! a hidden file, which is never sent. It checks no line: ferry verify does. Rust's library has no gzip, so the program of that name compresses.
use std::fs::{File, OpenOptions, rename};
use std::io::{Error, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// The time as names have it: 20261121T031502.123Z.
fn stamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years begin in March here, so that the day that not every year has is the last one.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}{month:02}{:02}T{:02}{:02}{:02}.{:03}Z",
        of_year - (153 * march + 2) / 5 + 1, second / 3_600, second / 60 % 60, second % 60, since.subsec_millis()
    )
}

/// Sixteen random characters.
fn id() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(b"0123456789abcdefghijklmnopqrstuv"[usize::from(byte % 32)])).collect())
}

fn main() -> Result<()> {
    let spool = std::env::var("SPOOL").map_err(Error::other)?;
    let spool = Path::new(&spool);
    let name = format!("5-{}-{}.jsonl.gz", stamp(SystemTime::now()), id()?);
    let hidden = spool.join(format!(".{name}.ferry-tmp"));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&hidden)?;
    let status = Command::new("gzip").arg("-c").stdin(Stdio::inherit()).stdout(file.try_clone()?).status()?;
    if !status.success() {
        return Err(Error::other(format!("gzip: {status}")));
    }
    file.sync_all()?;
    rename(&hidden, spool.join(&name))?;
    File::open(spool)?.sync_all()
}
