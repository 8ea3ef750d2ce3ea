//! The system call filter: allows everything except what no tool needs.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::orders::{Confinement, Failure, Step};
use super::{Network, UnixSockets};

/// Refused with EPERM whatever the arguments.
const FORBIDDEN: &[libc::c_long] = &[
    // Other processes' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Kernel code and kernel keys.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine as a whole.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // Shared memory that no limit counts and that outlives its process.
    libc::SYS_shmget,
    libc::SYS_shmat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Answered as if the kernel were too old: callers have a fallback that the filter can inspect
/// (`clone3` and `openat2` hide their flags in memory) or can do without (`io_uring` bypasses the
/// filter, the memory of a `memfd` counts against no limit).
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The first system call that this filter was not written for, answered as unknown like all that
/// follow: each kernel brings new ones (452 is `fchmodat2`, 463 `setxattrat`, 469 `file_setattr`).
/// Their numbers are the same on every architecture.
const FIRST_UNREVIEWED: u32 = 452;

/// Changes to the mode, owner and times of files, which Landlock does not watch. Neither a path nor
/// a descriptor shows the filter which file it names, so without the read-only mounts of a namespace
/// none of them takes effect. They are answered as done: `git`, `tar`, `cp -p` and the copying
/// functions of Python, Node and Rust end with one and take a refusal for a failure.
const WITHOUT_EFFECT: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Changes to extended attributes, answered as by a file system that has none, for the same reason.
const ATTRIBUTES: &[libc::c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Metadata by `ioctl`: FS_IOC_SETFLAGS in both sizes, FS_IOC_SETVERSION in both sizes,
/// FS_IOC_FSSETXATTR and FS_IOC_ENABLE_VERITY.
const FILE_FLAGS: &[libc::Ioctl] =
    &[0x4008_6602, 0x4004_6602, 0x4008_7602, 0x4004_7602, 0x401c_5820, 0x4080_6685];

/// Queues and semaphores of the host, which a namespace of its own replaces.
const SHARED_QUEUES: &[libc::c_long] = &[libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open];

/// Calls that change the process named by their first argument, 0 for the caller itself.
const BY_PROCESS: &[libc::c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// The bits of a mode that give a program its owner's or its group's identity.
const SET_ID: &[libc::c_int] = &[libc::S_ISUID.cast_signed(), libc::S_ISGID.cast_signed()];

/// `O_TMPFILE` without `O_DIRECTORY`, which it includes.
const UNNAMED_FILE: libc::c_int = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// `PRIO_PROCESS`, whose type differs between C libraries.
const PRIORITY_OF_PROCESS: u64 = 0;

/// `IOPRIO_WHO_PROCESS`.
const IO_PRIORITY_OF_PROCESS: u64 = 1;

const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// The bits of a socket's type that are no flags.
const SOCKET_TYPE: u64 = 0xf;

/// Terminal ioctls that inject input into another process's shell.
const TYPING: &[libc::Ioctl] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// The first ABI at which Landlock itself watches truncation.
const WATCHES_TRUNCATION: u8 = 3;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters on this process and all that it starts.
pub(super) fn filter(confinement: &Confinement, landlock_abi: u8) -> Result<(), Failure> {
    // Where several filters answer a call, the one that was installed last decides.
    for program in programs(confinement, landlock_abi).map_err(Failure::at(Step::Seccomp))? {
        seccompiler::apply_filter(&program).map_err(Failure::at(Step::Seccomp))?;
    }
    Ok(())
}

/// The filters in the order in which they are installed.
fn programs(confinement: &Confinement, landlock_abi: u8) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused = always(FORBIDDEN);
    refused.insert(libc::SYS_clone, any_flag(0, NEW_NAMESPACES)?);
    refused.insert(libc::SYS_socket, sockets(confinement)?);
    if confinement.unix_sockets != UnixSockets::Allowed {
        refused.insert(libc::SYS_socketpair, socket_pairs()?);
    }
    if listens_only(confinement) {
        refused.insert(libc::SYS_connect, Vec::new());
    }
    if matches!(confinement.network, Network::Port(_)) {
        // Sending can open a connection, which Landlock does not watch.
        let opening = &[libc::MSG_FASTOPEN];
        refused.insert(libc::SYS_sendto, any_flag(3, opening)?);
        refused.insert(libc::SYS_sendmsg, any_flag(2, opening)?);
        refused.insert(libc::SYS_sendmmsg, any_flag(3, opening)?);
    }
    refused.insert(libc::SYS_mmap, uncounted_memory()?);

    let truncation_unwatched = landlock_abi < WATCHES_TRUNCATION;
    let mut opening = |call, flags: u8| -> Result<(), BackendError> {
        let mut rules = creating_set_id(flags)?;
        if truncation_unwatched {
            rules.push(truncating_read(flags)?);
        }
        refused.insert(call, rules);
        Ok(())
    };
    opening(libc::SYS_openat, 2)?;
    #[cfg(target_arch = "x86_64")]
    opening(libc::SYS_open, 1)?;
    if truncation_unwatched {
        refused.insert(libc::SYS_truncate, Vec::new());
    }
    refused.insert(libc::SYS_mknodat, any_flag(2, SET_ID)?);
    #[cfg(target_arch = "x86_64")]
    for call in [libc::SYS_mknod, libc::SYS_creat] {
        refused.insert(call, any_flag(1, SET_ID)?);
    }

    refused.insert(libc::SYS_fchmod, any_flag(1, SET_ID)?);
    refused.insert(libc::SYS_fchmodat, any_flag(2, SET_ID)?);
    #[cfg(target_arch = "x86_64")]
    refused.insert(libc::SYS_chmod, any_flag(1, SET_ID)?);

    let mut programs = Vec::new();
    if confinement.host.namespaces {
        refused.insert(libc::SYS_ioctl, any_value(1, TYPING)?);
    } else {
        programs.push(compile(always(WITHOUT_EFFECT), 0)?);
        programs.push(compile(always(ATTRIBUTES), libc::EOPNOTSUPP)?);
        refused.extend(always(SHARED_QUEUES));
        refused.insert(libc::SYS_ioctl, any_value(1, &[TYPING, FILE_FLAGS].concat())?);
        for call in BY_PROCESS {
            refused.insert(*call, vec![other_than(0, 0)?]);
        }
        for (call, process) in [
            (libc::SYS_setpriority, PRIORITY_OF_PROCESS),
            (libc::SYS_ioprio_set, IO_PRIORITY_OF_PROCESS),
        ] {
            refused.insert(call, vec![other_than(0, process)?, other_than(1, 0)?]);
        }
    }
    programs.push(ignore_unreviewed(compile(always(UNKNOWN), libc::ENOSYS)?));
    programs.push(refuse_x32(compile(refused, libc::EPERM)?));
    Ok(programs)
}

fn compile(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?
    .try_into()
}

/// The x32 calls of an x86-64 kernel share its architecture tag under other numbers and would
/// walk past a list of refusals. No program of ours has a use for them, so all are refused, ahead
/// of the list: to name each of them again would double what the kernel reads at every start.
#[cfg(target_arch = "x86_64")]
fn refuse_x32(program: BpfProgram) -> BpfProgram {
    refuse_from(0x4000_0000, libc::EPERM, program)
}

#[cfg(not(target_arch = "x86_64"))]
fn refuse_x32(program: BpfProgram) -> BpfProgram {
    program
}

fn ignore_unreviewed(program: BpfProgram) -> BpfProgram {
    refuse_from(FIRST_UNREVIEWED, libc::ENOSYS, program)
}

/// Refuses every system call from this number on, ahead of the rest of the program. Negative
/// numbers are left to the kernel, which knows none.
fn refuse_from(first: u32, errno: libc::c_int, program: BpfProgram) -> BpfProgram {
    const BEYOND: u32 = 0x8000_0000;
    let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let at_least = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    let answer = libc::SECCOMP_RET_ERRNO | errno.unsigned_abs();
    let mut whole = vec![
        // The number of the call is the first word that a filter sees.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(at_least, 0, 2, first),
        instruction(at_least, 1, 0, BEYOND),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, answer),
    ];
    whole.extend(program);
    whole
}

fn always(calls: &[libc::c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// Which kinds of socket are refused. A pair of connected sockets is another call and stays allowed.
fn sockets(confinement: &Confinement) -> Result<Vec<SeccompRule>, BackendError> {
    let mut kinds = Vec::new();
    match confinement.network {
        Network::Denied => {}
        Network::Port(_) => kinds.push(libc::AF_INET),
        // Resolvers ask the kernel for the machine's addresses over netlink.
        Network::Allowed => kinds.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]),
    }
    if confinement.unix_sockets == UnixSockets::Allowed || listens_only(confinement) {
        kinds.push(libc::AF_UNIX);
    }
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let others: Result<Vec<_>, _> = kinds
        .into_iter()
        .map(|kind| condition(0, SeccompCmpOp::Ne, u64::from(kind.unsigned_abs())))
        .collect();
    let mut rules = vec![SeccompRule::new(others?)?];
    if listens_only(confinement) {
        // Datagrams reach sockets that have a path without a connection.
        rules.extend(datagrams()?);
    }
    if matches!(confinement.network, Network::Port(_)) {
        rules.extend(other_than_tcp()?);
    }
    Ok(rules)
}

/// Whether the only sockets are those that listen: a program with a network needs to connect.
fn listens_only(confinement: &Confinement) -> bool {
    confinement.unix_sockets == UnixSockets::Listening && confinement.network == Network::Denied
}

/// Sockets of the internet that are not for TCP, whose connections Landlock does not watch.
fn other_than_tcp() -> Result<Vec<SeccompRule>, BackendError> {
    let internet = || condition(0, SeccompCmpOp::Eq, u64::from(libc::AF_INET.unsigned_abs()));
    let mut rules = Vec::new();
    for kind in
        (0..=SOCKET_TYPE).filter(|kind| *kind != u64::from(libc::SOCK_STREAM.unsigned_abs()))
    {
        let of_kind = condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)?;
        rules.push(SeccompRule::new(vec![internet()?, of_kind])?);
    }
    // 0 is the default of the type, TCP.
    let named = condition(2, SeccompCmpOp::Ne, 0)?;
    let other = condition(2, SeccompCmpOp::Ne, u64::from(libc::IPPROTO_TCP.unsigned_abs()))?;
    rules.push(SeccompRule::new(vec![internet()?, named, other])?);
    Ok(rules)
}

/// Which pairs of sockets are refused: an end of a datagram pair can send to any socket that has a
/// path, and other families have pairs that reach other machines. `SOCK_RAW` means datagrams, too.
fn socket_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    let mut rules = vec![other_than(0, unix)?];
    rules.extend(datagrams()?);
    Ok(rules)
}

/// Sockets and pairs of them that send datagrams.
fn datagrams() -> Result<Vec<SeccompRule>, BackendError> {
    let of_type = |kind: libc::c_int| {
        let kind = u64::from(kind.unsigned_abs());
        SeccompRule::new(vec![condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)?])
    };
    Ok(vec![of_type(libc::SOCK_DGRAM)?, of_type(libc::SOCK_RAW)?])
}

/// Mappings that the limit of a process's memory does not count: shared ones without a file, and
/// stacks of any size.
fn uncounted_memory() -> Result<Vec<SeccompRule>, BackendError> {
    let with = |flags: libc::c_int| {
        let bits = u64::from(flags.unsigned_abs());
        SeccompRule::new(vec![condition(3, SeccompCmpOp::MaskedEq(bits), bits)?])
    };
    Ok(vec![with(libc::MAP_SHARED | libc::MAP_ANONYMOUS)?, with(libc::MAP_GROWSDOWN)?])
}

/// Opening a new file with a set-ID mode. The mode is the argument after the flags, and means
/// nothing unless a file is created.
fn creating_set_id(flags: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let has = |argument, flag: libc::c_int| {
        let bit = u64::from(flag.unsigned_abs());
        condition(argument, SeccompCmpOp::MaskedEq(bit), bit)
    };
    let mut rules = Vec::new();
    for creating in [libc::O_CREAT, UNNAMED_FILE] {
        for bit in SET_ID {
            rules.push(SeccompRule::new(vec![has(flags, creating)?, has(flags + 1, *bit)?])?);
        }
    }
    Ok(rules)
}

/// Refuses the call unless the argument has this value.
fn other_than(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, SeccompCmpOp::Ne, value)?])
}

fn any_flag(argument: u8, flags: &[libc::c_int]) -> Result<Vec<SeccompRule>, BackendError> {
    flags
        .iter()
        .map(|flag| {
            let bit = u64::from(flag.cast_unsigned());
            SeccompRule::new(vec![condition(argument, SeccompCmpOp::MaskedEq(bit), bit)?])
        })
        .collect()
}

fn any_value(argument: u8, values: &[libc::Ioctl]) -> Result<Vec<SeccompRule>, BackendError> {
    values
        .iter()
        .map(|value| SeccompRule::new(vec![condition(argument, SeccompCmpOp::Eq, *value)?]))
        .collect()
}

/// Opening for reading with truncation empties a file that may only be read.
fn truncating_read(argument: u8) -> Result<SeccompRule, BackendError> {
    let bits = u64::from((libc::O_ACCMODE | libc::O_TRUNC).unsigned_abs());
    let value = u64::from((libc::O_RDONLY | libc::O_TRUNC).unsigned_abs());
    SeccompRule::new(vec![condition(argument, SeccompCmpOp::MaskedEq(bits), value)?])
}

/// The kernel reads these arguments as 32-bit numbers, so the upper half must not matter.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

#[cfg(test)]
mod tests;
