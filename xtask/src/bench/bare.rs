//! The same work without Agon, measured beside it: bare bubblewrap starts, and bare calls of the
//! Docker Engine API.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Value, json};

use crate::docker_api::DockerApi;
use crate::failure::{Failure, Trying};

/// The flags of a local sandbox; see the `sandbox` crate.
const BWRAP: &str = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net \
    --unshare-cgroup-try --disable-userns --new-session --die-with-parent --as-pid-1 \
    --cap-drop ALL --hostname agon --uid 1000 --gid 1000 \
    --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib \
    --symlink usr/lib64 /lib64 --ro-bind /etc/alternatives /etc --symlink /tmp /var/tmp \
    --proc /proc --dev /dev \
    --size 134217728 --perms 1777 --tmpfs /tmp --size 67108864 --perms 0755 --tmpfs /home/agent \
    --size 8388608 --perms 0755 --tmpfs /run --size 33554432 --perms 1777 --tmpfs /dev/shm \
    --size 268435456 --perms 0755 --tmpfs /work --remount-ro /dev --remount-ro / \
    --chdir /work -- /usr/bin/true";

/// Starts bubblewrap `starts` times from `starters` threads; seconds for all of it.
pub(super) fn bwrap_seconds(starts: u32, starters: u32) -> Result<f64, Failure> {
    let left = Mutex::new(starts);
    let take = || {
        left.lock().is_ok_and(|mut left| {
            let some = *left > 0;
            *left = left.saturating_sub(1);
            some
        })
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..starters)
            .map(|_| {
                scope.spawn(|| {
                    while take() {
                        bwrap()?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Failure::new("a starter of bubblewrap broke")))
        })
    })?;
    Ok(started.elapsed().as_secs_f64())
}

fn bwrap() -> Result<(), Failure> {
    let output = Command::new("bwrap")
        .args(BWRAP.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .trying("start bwrap")?;
    if output.status.success() {
        Ok(())
    } else {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Failure::new(format!("bwrap failed: {text}")))
    }
}

/// Create, start, one exec, remove, for a trial and for its check, `times` times one after the other; seconds
/// for all of it. The network is the one of our sandboxes (`--network none`: a loopback and nothing else).
pub(super) fn container_seconds(api: &DockerApi, image: &str, times: u32) -> Result<f64, Failure> {
    let started = Instant::now();
    for _ in 0..times {
        for command in ["echo hello > /tmp/greeting.txt", "cat /etc/hostname"] {
            let id = create(api, image)?;
            let used = api
                .post(&format!("/containers/{id}/start"), &Value::Null)
                .and_then(|_| exec(api, &id, command));
            // Also after a failure: nothing that was started stays.
            api.delete(&format!("/containers/{id}?force=true&v=true"))?;
            used?;
        }
    }
    Ok(started.elapsed().as_secs_f64())
}

/// Create, start and one exec, `times` times one after the other; seconds for that, without removing.
pub(super) fn container_start_seconds(
    api: &DockerApi,
    image: &str,
    times: u32,
) -> Result<f64, Failure> {
    let mut seconds = 0.0;
    for _ in 0..times {
        let started = Instant::now();
        let id = create(api, image)?;
        let used = api
            .post(&format!("/containers/{id}/start"), &Value::Null)
            .and_then(|_| exec(api, &id, "echo done > /tmp/done.txt"));
        seconds += started.elapsed().as_secs_f64();
        api.delete(&format!("/containers/{id}?force=true&v=true"))?;
        used?;
    }
    Ok(seconds)
}

fn create(api: &DockerApi, image: &str) -> Result<String, Failure> {
    let created = api.post(
        "/containers/create",
        &json!({
            "Image": image,
            "Cmd": ["sleep", "infinity"],
            "Labels": { "agon.bench": "bare" },
            "HostConfig": { "NetworkMode": "none" },
        }),
    )?;
    Ok(text(&created, "Id")?.to_owned())
}

fn exec(api: &DockerApi, id: &str, command: &str) -> Result<(), Failure> {
    let created = api.post(
        &format!("/containers/{id}/exec"),
        &json!({ "Cmd": ["sh", "-c", command], "AttachStdout": true, "AttachStderr": true }),
    )?;
    let exec = text(&created, "Id")?;
    api.post_stream(
        &format!("/exec/{exec}/start"),
        &json!({ "Detach": false, "Tty": false }),
    )?;
    let ended = api.get(&format!("/exec/{exec}/json"))?;
    if ended["ExitCode"] == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!("`{command}` failed: {ended}")))
    }
}

fn text<'a>(answer: &'a Value, key: &str) -> Result<&'a str, Failure> {
    answer[key]
        .as_str()
        .ok_or_else(|| Failure::new(format!("the engine's answer lacks {key}: {answer}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bubblewrap_starts_with_our_flags() {
        assert!(bwrap_seconds(3, 2).unwrap() > 0.0);
    }

    #[test]
    fn bare_container_calls_leave_no_container_behind() {
        let engine = crate::test::engine_with_image().unwrap();
        let image = format!("{}:latest", crate::rootfs::IMAGE);
        let mine = || {
            let filter = "%7B%22label%22%3A%5B%22agon.bench%22%5D%7D";
            let path = format!("/containers/json?all=true&filters={filter}");
            engine.api().get(&path).unwrap()
        };
        let before = mine();
        assert!(container_seconds(engine.api(), &image, 1).unwrap() > 0.0);
        assert_eq!(mine(), before);
        assert!(container_seconds(engine.api(), "no-such-image", 1).is_err());
    }
}
