//! Debian packages: which are missing, and how they get installed. Nothing is called when nothing
//! is missing.

use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::console;
use crate::failure::{Failure, Trying};

/// A package and the files that show its work can be done, whoever installed them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Package {
    name: &'static str,
    files: &'static [&'static str],
}

pub(crate) const BUBBLEWRAP: Package = Package {
    name: "bubblewrap",
    files: &["/usr/bin/bwrap"],
};
/// Not any Python of the search path: sandboxes see /usr and nothing else.
pub(crate) const PYTHON: Package = Package {
    name: "python3",
    files: &["/usr/bin/python3"],
};
pub(crate) const PIP: Package = Package {
    name: "python3-pip",
    files: &["/usr/bin/pip3"],
};
pub(crate) const DOCKER: Package = Package {
    name: "docker.io",
    files: &["/usr/sbin/dockerd", "/usr/bin/dockerd"],
};
pub(crate) const NPM: Package = Package {
    name: "npm",
    files: &["/usr/bin/npm", "/usr/local/bin/npm"],
};
/// Parts programs from what only debuggers read. Comes with every compiler.
pub(crate) const BINUTILS: Package = Package {
    name: "binutils",
    files: &["/usr/bin/objcopy"],
};
/// Packs releases, and unpacks them in tests of the installer.
pub(crate) const ZSTD: Package = Package {
    name: "zstd",
    files: &["/usr/bin/zstd"],
};
pub(crate) const MMDEBSTRAP: Package = Package {
    name: "mmdebstrap",
    files: &["/usr/bin/mmdebstrap"],
};

/// What tests of confinement try to break out with. Without these tools nothing would be tried.
pub(crate) const TOOLS: [Package; 6] = [
    // `ip`, by which a second machine is made.
    Package {
        name: "iproute2",
        files: &["/usr/sbin/ip", "/sbin/ip"],
    },
    Package {
        name: "strace",
        files: &["/usr/bin/strace"],
    },
    Package {
        name: "hostname",
        files: &["/usr/bin/hostname", "/bin/hostname"],
    },
    Package {
        name: "mount",
        files: &["/usr/bin/mount", "/bin/mount"],
    },
    // `ps`, `pgrep` and `pkill`, by which programs are found again too.
    Package {
        name: "procps",
        files: &["/usr/bin/pgrep"],
    },
    // `chrt`, `nsenter`, `setpriv`, `su`, `unshare`.
    Package {
        name: "util-linux",
        files: &["/usr/bin/chrt"],
    },
];

/// What sandboxes with an open network are led out by.
pub(crate) const SLIRP: Package = Package {
    name: "slirp4netns",
    files: &["/usr/bin/slirp4netns"],
};

/// What desktops are made of, and what tests start on them.
pub(crate) const DESKTOP: [Package; 6] = [
    Package {
        name: "xvfb",
        files: &["/usr/bin/Xvfb"],
    },
    Package {
        name: "openbox",
        files: &["/usr/bin/openbox"],
    },
    Package {
        name: "xterm",
        files: &["/usr/bin/xterm"],
    },
    Package {
        name: "mousepad",
        files: &["/usr/bin/mousepad"],
    },
    // What programs in Python speak to an X server with.
    Package {
        name: "python3-xlib",
        files: &["/usr/lib/python3/dist-packages/Xlib/__init__.py"],
    },
    Package {
        name: "fonts-dejavu-core",
        files: &["/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"],
    },
];

/// What the repositories of `suites/bugfix` are built and tried with, and the browser that agents are given.
/// Of the machine itself: sandboxes see /usr, and no toolchain in somebody's home.
pub(crate) const CODING: [Package; 6] = [
    Package {
        name: "git",
        files: &["/usr/bin/git"],
    },
    Package {
        name: "gcc",
        files: &["/usr/bin/cc"],
    },
    Package {
        name: "libc6-dev",
        files: &["/usr/include/stdio.h"],
    },
    Package {
        name: "nodejs",
        files: &["/usr/bin/node"],
    },
    Package {
        name: "rustc",
        files: &["/usr/bin/rustc"],
    },
    Package {
        name: "chromium",
        files: &["/usr/bin/chromium"],
    },
];

/// What llama.cpp is built with.
pub(crate) const LLAMA: [Package; 4] = [
    Package {
        name: "cmake",
        files: &["/usr/bin/cmake"],
    },
    Package {
        name: "g++",
        files: &["/usr/bin/c++"],
    },
    Package {
        name: "clang",
        files: &["/usr/bin/clang"],
    },
    // One folder for each version, and any will do.
    Package {
        name: "libclang-dev",
        files: &[
            "/usr/lib/llvm-14/lib/libclang.so",
            "/usr/lib/llvm-15/lib/libclang.so",
            "/usr/lib/llvm-16/lib/libclang.so",
            "/usr/lib/llvm-17/lib/libclang.so",
            "/usr/lib/llvm-18/lib/libclang.so",
            "/usr/lib/llvm-19/lib/libclang.so",
            "/usr/lib/llvm-20/lib/libclang.so",
            "/usr/lib/llvm-21/lib/libclang.so",
        ],
    },
];

impl Package {
    pub(crate) fn is_missing(&self) -> bool {
        !self.files.iter().any(|file| Path::new(file).exists())
    }
}

/// Installs what is missing of `packages`.
pub(crate) fn install(packages: &[Package]) -> Result<(), Failure> {
    let missing: Vec<&str> = packages
        .iter()
        .filter(|package| package.is_missing())
        .map(|package| package.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let by_hand = format!(
        "packages are missing; install them and start again:\n  \
         sudo apt-get update && sudo apt-get install --yes --no-install-recommends {names}"
    );
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::usage(format!(
            "these packages are missing, and there is no apt-get to install them: {names}"
        )));
    }
    let Some(root) = Root::reachable()? else {
        return Err(Failure::usage(by_hand));
    };
    console::step(&format!("install {names}"), || {
        console::succeed(&mut root.apt_get(&["update"]))?;
        console::succeed(
            root.apt_get(&["install", "--yes", "--no-install-recommends"])
                .args(&missing),
        )
    })
}

/// A way to run programs as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// We are root.
    Already,
    /// `sudo` works without asking.
    SilentSudo,
    /// `sudo` may ask for a password, and there is somebody to answer.
    AskingSudo,
}

impl Root {
    pub(crate) fn reachable() -> Result<Option<Self>, Failure> {
        if uid()? == 0 {
            return Ok(Some(Self::Already));
        }
        let silent = Command::new("sudo")
            .args(["-n", "true"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        Ok(match silent {
            Err(_) => None,
            Ok(status) if status.success() => Some(Self::SilentSudo),
            Ok(_) if std::io::stdin().is_terminal() => Some(Self::AskingSudo),
            Ok(_) => None,
        })
    }

    pub(crate) fn command(self, program: &str) -> Command {
        match self {
            Self::Already => Command::new(program),
            Self::SilentSudo => sudo(&["-n", program]),
            Self::AskingSudo => sudo(&[program]),
        }
    }

    fn apt_get(self, words: &[&str]) -> Command {
        let mut command = self.command("env");
        command
            .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"])
            .args(words);
        command
    }
}

fn sudo(words: &[&str]) -> Command {
    let mut command = Command::new("sudo");
    command.args(words);
    command
}

/// Our own user id: the owner of our own process folder.
pub(crate) fn uid() -> Result<u32, Failure> {
    Ok(std::fs::metadata("/proc/self")
        .trying("read /proc/self")?
        .uid())
}

/// Our own group id.
pub(crate) fn gid() -> Result<u32, Failure> {
    Ok(std::fs::metadata("/proc/self")
        .trying("read /proc/self")?
        .gid())
}
