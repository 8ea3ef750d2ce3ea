//! The system call filter: everything is allowed but what a tool has no business doing.

use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
use seccompiler::sock_filter;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::Network;
use super::orders::{Confinement, Failure, Step};

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
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Answered as if the kernel were too old: callers have a fallback that the filter can inspect
/// (`clone3` hides its flags in memory) or can do without (`io_uring` bypasses the filter).
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Terminal tricks that type into somebody else's shell.
const TYPING: &[libc::Ioctl] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// The first ABI at which Landlock itself watches truncation.
const WATCHES_TRUNCATION: u8 = 3;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters on this process and all that it starts.
pub(super) fn filter(confinement: &Confinement, landlock_abi: u8) -> Result<(), Failure> {
    let (refused, unknown) =
        programs(confinement, landlock_abi).map_err(Failure::at(Step::Seccomp))?;
    for program in [unknown, refused] {
        seccompiler::apply_filter(&program).map_err(Failure::at(Step::Seccomp))?;
    }
    Ok(())
}

fn programs(
    confinement: &Confinement,
    landlock_abi: u8,
) -> Result<(BpfProgram, BpfProgram), BackendError> {
    let mut refused = always(FORBIDDEN);
    let mut unknown = always(UNKNOWN);

    refused.insert(libc::SYS_clone, any_flag(0, NEW_NAMESPACES)?);
    refused.insert(libc::SYS_ioctl, any_value(1, TYPING)?);
    refused.insert(libc::SYS_socket, sockets(confinement)?);
    if landlock_abi < WATCHES_TRUNCATION {
        refused.insert(libc::SYS_truncate, Vec::new());
        refused.insert(libc::SYS_openat, vec![truncating_read(2)?]);
        #[cfg(target_arch = "x86_64")]
        refused.insert(libc::SYS_open, vec![truncating_read(1)?]);
        unknown.insert(libc::SYS_openat2, Vec::new());
    }
    Ok((refuse_x32(compile(refused, libc::EPERM)?), compile(unknown, libc::ENOSYS)?))
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
    const FIRST: u32 = 0x4000_0000;
    const BEYOND: u32 = 0x8000_0000;
    let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let at_least = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    let mut whole = vec![
        // The number of the call is the first word that a filter sees.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(at_least, 0, 2, FIRST),
        instruction(at_least, 1, 0, BEYOND),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs(),
        ),
    ];
    whole.extend(program);
    whole
}

#[cfg(not(target_arch = "x86_64"))]
fn refuse_x32(program: BpfProgram) -> BpfProgram {
    program
}

fn always(calls: &[libc::c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// Which kinds of socket are refused. A pair of connected sockets is another call and stays allowed.
fn sockets(confinement: &Confinement) -> Result<Vec<SeccompRule>, BackendError> {
    let mut kinds = Vec::new();
    if confinement.network == Network::Allowed {
        // Resolvers ask the kernel for the machine's addresses over netlink.
        kinds.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if confinement.unix_sockets {
        kinds.push(libc::AF_UNIX);
    }
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let others: Result<Vec<_>, _> = kinds
        .into_iter()
        .map(|kind| condition(0, SeccompCmpOp::Ne, u64::from(kind.unsigned_abs())))
        .collect();
    Ok(vec![SeccompRule::new(others?)?])
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
