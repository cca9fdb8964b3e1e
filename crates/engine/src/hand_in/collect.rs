//! Files of the working folder that a task wants kept one by one.

use std::io::{self, Read};

use agon_sandbox::{ArchiveIndex, Held, WorkArchive};
use tokio::task::spawn_blocking;

use crate::attempt::evidence_lost;
use agon_core::Fault;

/// Most bytes of one file.
pub(super) const MOST: u64 = 1 << 20;

/// One file, or why there is none.
pub(super) type Found = (String, Result<Vec<u8>, String>);

pub(super) async fn collect(paths: &[String], work: &WorkArchive) -> Result<Vec<Found>, Fault> {
    let paths = paths.to_vec();
    let archive = work.open().map_err(|error| evidence_lost(&error))?;
    let found = spawn_blocking(move || -> io::Result<Vec<Found>> {
        let index = ArchiveIndex::of(archive, paths.iter().map(Into::into))?;
        let look = |path: String| {
            let found = read(&index, &path)?;
            Ok((path, found))
        };
        paths.into_iter().map(look).collect()
    });
    found
        .await
        .map_err(io::Error::other)
        .and_then(|found| found)
        .map_err(|error| evidence_lost(&error))
}

fn read(index: &ArchiveIndex, path: &str) -> io::Result<Result<Vec<u8>, String>> {
    Ok(match index.get(path) {
        None => Err("it is not there".to_owned()),
        Some(Held::File { size, .. }) if *size > MOST => {
            Err(format!("its {size} bytes are over the cap of {MOST}"))
        }
        Some(Held::File { at, size }) => {
            let mut content = Vec::new();
            index.content(*at, *size).read_to_end(&mut content)?;
            Ok(content)
        }
        Some(Held::Folder | Held::Link { .. } | Held::Other) => Err("it is no file".to_owned()),
    })
}
