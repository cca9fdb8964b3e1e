//! The system calls that programs in a local sandbox have: a filter which bubblewrap hands to the kernel
//! (seccomp) before anything of ours or an agent's runs inside. Modelled on the default profiles of container
//! engines. Knows nothing of who is filtered.

use std::io;
use std::process::Command;

use command_fds::{CommandFdExt, FdMapping};
use libc::c_long;

use super::run::sealed;

/// Where a bubblewrap of somebody else's finds the filter, for its `--seccomp`; see [`hand_filter`].
pub const FILTER_AT: i32 = 9;

/// Lets a bubblewrap that is about to be started find the filter at [`FILTER_AT`].
pub fn hand_filter(command: &mut Command) -> io::Result<()> {
    let mapping = FdMapping {
        parent_fd: sealed(&program())?,
        child_fd: FILTER_AT,
    };
    let mapped = command.fd_mappings(vec![mapping]);
    mapped.map(drop).map_err(io::Error::other)
}

/// Keys, key rings and modules, mounts, namespaces, tracing of the kernel, clocks, and what reaches past the
/// file tree: for none of these do we hand out the right, so that the kernel need not be asked.
const REFUSED: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_get_mempolicy,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mbind,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_set_mempolicy_home_node,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS__sysctl,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_sysfs,
    libc::SYS_uselib,
    libc::SYS_ustat,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// As on a kernel that does not have them, since programs then take another way. `clone3` keeps its flags
/// where a filter can't look.
const UNKNOWN: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

/// What the kernel calls the machine, and the numbers of system calls that we know: up to the first, then
/// between the two others. Newer ones are unknown until somebody has looked at them.
#[cfg(target_arch = "x86_64")]
const MACHINE: (u32, [u32; 3]) = (0xc000_003e, [334, 424, 462]);
#[cfg(target_arch = "aarch64")]
const MACHINE: (u32, [u32; 3]) = (0xc000_00b7, [294, 424, 462]);

/// Mount, cgroup, UTS, IPC, user, pid and network namespaces; the time namespace has a bit that means
/// something else to `clone`.
const NAMESPACES: u32 = 0x7e02_0000;
const TIME_NAMESPACE: u32 = 0x80;

/// Unix, IPv4, IPv6, netlink. No way to a hypervisor (vsock), to devices, or around the routes (packet).
const FAMILIES: &[u32] = &[1, 2, 10, 16];

/// `PTRACE_ATTACH` and `PTRACE_SEIZE`. Processes that trace each other, and ask to be told of each other's
/// exit, can be ended by nobody: killed, each waits for the other. `strace` asks for exits of all that it
/// starts, so that option can't be refused; but whom a program traces from the start is younger than itself, and
/// no circle can be made of those.
const TRACED_LATER: &[u32] = &[16, 0x4206];

/// What engines allow, and addresses that are not random, for debuggers.
const PERSONALITIES: &[u32] = &[0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff];

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const ERROR: u32 = 0x0005_0000;

/// Where the kernel puts what a filter may look at.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const GREATER: u16 = 0x25;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// One step of the kernel's filter machine: how far to jump depends on what was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    code: u16,
    yes: u8,
    no: u8,
    value: u32,
}

const fn step(code: u16, value: u32, yes: u8, no: u8) -> Step {
    Step {
        code,
        yes,
        no,
        value,
    }
}

const fn give(answer: u32) -> Step {
    step(RETURN, answer, 0, 0)
}

const fn error(number: i32) -> Step {
    give(ERROR | number.unsigned_abs())
}

/// The filter in the form that `bwrap --seccomp` reads.
pub(super) fn program() -> Vec<u8> {
    let bytes = |step: Step| {
        let [code_0, code_1] = step.code.to_ne_bytes();
        let [value_0, value_1, value_2, value_3] = step.value.to_ne_bytes();
        [
            code_0, code_1, step.yes, step.no, value_0, value_1, value_2, value_3,
        ]
    };
    steps().into_iter().flat_map(bytes).collect()
}

fn steps() -> Vec<Step> {
    let (architecture, [old, new, newest]) = MACHINE;
    let mut steps = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        // Calls of another architecture have other numbers. Programs of it are ended.
        step(EQUAL, architecture, 1, 0),
        give(KILL),
        step(LOAD, NUMBER, 0, 0),
        step(GREATER, newest, 2, 0),
        step(GREATER, old, 0, 2),
        step(AT_LEAST, new, 1, 0),
        error(libc::ENOSYS),
    ];
    let refused = REFUSED.iter().chain(REFUSED_HERE);
    let refused = refused.map(|call| (*call, libc::EPERM));
    let unknown = UNKNOWN.iter().map(|call| (*call, libc::ENOSYS));
    for (call, number) in refused.chain(unknown) {
        add(&mut steps, call, &[error(number)]);
    }
    let [allow, deny] = [give(ALLOW), error(libc::EPERM)];
    let any_of = |bits: u32| [argument(0), step(ANY_BIT, bits, 0, 1), deny, allow];
    add(&mut steps, libc::SYS_clone, &any_of(NAMESPACES));
    let namespaces = any_of(NAMESPACES | TIME_NAMESPACE);
    add(&mut steps, libc::SYS_unshare, &namespaces);
    let no_family = error(libc::EAFNOSUPPORT);
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        add(&mut steps, call, &choice(FAMILIES, allow, no_family));
    }
    let tracing = choice(TRACED_LATER, deny, allow);
    add(&mut steps, libc::SYS_ptrace, &tracing);
    let personality = choice(PERSONALITIES, allow, deny);
    add(&mut steps, libc::SYS_personality, &personality);
    steps.push(allow);
    steps
}

/// What happens at a system call; each way through `then` ends in an answer.
fn add(steps: &mut Vec<Step>, call: c_long, then: &[Step]) {
    let number = u32::try_from(call).unwrap_or(u32::MAX);
    let past = u8::try_from(then.len()).unwrap_or(u8::MAX);
    steps.push(step(EQUAL, number, 0, past));
    steps.extend(then);
}

/// The lower half, which is all that the kernel takes of those that we look at.
const fn argument(number: u32) -> Step {
    step(LOAD, FIRST_ARGUMENT + 8 * number, 0, 0)
}

/// What is answered to one of these first arguments, and to any other.
fn choice(values: &[u32], one: Step, other: Step) -> Vec<Step> {
    let mut steps = vec![argument(0)];
    for value in values {
        steps.extend([step(EQUAL, *value, 0, 1), one]);
    }
    steps.push(other);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel makes of a call.
    fn run(architecture: u32, call: c_long, argument: u32) -> u32 {
        let steps = steps();
        let (mut at, mut loaded) = (0, 0);
        loop {
            let Step {
                code,
                yes,
                no,
                value,
            } = steps[at];
            let jump = |met: bool| usize::from(if met { yes } else { no });
            at += 1 + match code {
                LOAD => {
                    loaded = match value {
                        NUMBER => u32::try_from(call).unwrap(),
                        ARCHITECTURE => architecture,
                        FIRST_ARGUMENT => argument,
                        other => panic!("{other} is not there"),
                    };
                    0
                }
                EQUAL => jump(loaded == value),
                GREATER => jump(loaded > value),
                AT_LEAST => jump(loaded >= value),
                ANY_BIT => jump(loaded & value != 0),
                RETURN => return value,
                other => panic!("{other} is no step"),
            };
        }
    }

    fn answer(call: c_long, argument: u32) -> u32 {
        run(MACHINE.0, call, argument)
    }

    fn errno(number: i32) -> u32 {
        ERROR | number.unsigned_abs()
    }

    #[test]
    fn each_call_gets_its_answer() {
        for call in REFUSED.iter().chain(REFUSED_HERE) {
            assert_eq!(answer(*call, 0), errno(libc::EPERM), "{call}");
        }
        for call in UNKNOWN {
            assert_eq!(answer(*call, 0), errno(libc::ENOSYS), "{call}");
        }
        let usual = [
            libc::SYS_read,
            libc::SYS_execve,
            libc::SYS_futex,
            libc::SYS_seccomp,
            libc::SYS_pidfd_open,
            libc::SYS_landlock_restrict_self,
        ];
        for call in usual {
            assert_eq!(answer(call, 0), ALLOW, "{call}");
        }
    }

    #[test]
    fn what_we_do_not_know_is_not_there() {
        let (architecture, [old, new, newest]) = MACHINE;
        let x32 = 0x4000_0000;
        for unknown in [old + 1, new - 1, newest + 1, x32, x32 + 1, u32::MAX] {
            assert_eq!(answer(unknown.into(), 0), errno(libc::ENOSYS), "{unknown}");
        }
        for known in [old, newest] {
            let told = answer(known.into(), 0);
            assert_ne!(told, errno(libc::ENOSYS), "{known}");
        }
        assert_eq!(run(architecture ^ 1, libc::SYS_read, 0), KILL);
    }

    #[test]
    fn arguments_decide() {
        const NEW_USER: u32 = 0x1000_0000;
        const THREAD: u32 = 0x003d_0f00;
        let refused = errno(libc::EPERM);
        let told = |call, arguments: &[u32]| -> Vec<u32> {
            arguments.iter().map(|it| answer(call, *it)).collect()
        };
        let clone = told(libc::SYS_clone, &[THREAD, 17, NEW_USER | 17]);
        assert_eq!(clone, [ALLOW, ALLOW, refused]);
        let unshare = told(libc::SYS_unshare, &[0, 0x400, NEW_USER, TIME_NAMESPACE]);
        assert_eq!(unshare, [ALLOW, ALLOW, refused, refused]);
        let none = errno(libc::EAFNOSUPPORT);
        let socket = told(libc::SYS_socket, &[1, 2, 10, 16, 17, 38, 40, 44]);
        assert_eq!(socket, [ALLOW, ALLOW, ALLOW, ALLOW, none, none, none, none]);
        let ptrace = told(libc::SYS_ptrace, &[0, 0x4200, 7, 16, 0x4206]);
        assert_eq!(ptrace, [ALLOW, ALLOW, ALLOW, refused, refused]);
        let personality = told(libc::SYS_personality, &[0xffff_ffff, 0x4_0000, 0x40_0000]);
        assert_eq!(personality, [ALLOW, ALLOW, refused]);
    }
}
