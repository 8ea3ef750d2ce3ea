//! Limits shared by callers: a total, and the most that one caller may hold of it.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use auth::network;
use proto::Principal;

/// The holder of a share: a caller, or an address while no caller is known.
#[derive(Clone, Copy, Debug, Hash)]
pub enum Holder<'a> {
    /// Tenant and subject. All agents of a subject are one holder, because the subject can act as any of them.
    Caller(&'a str, &'a str),
    Address(IpAddr),
}

impl<'a> Holder<'a> {
    pub fn of(principal: &'a Principal) -> Self {
        Self::Caller(principal.tenant.as_str(), &principal.subject)
    }

    pub fn at(address: IpAddr) -> Self {
        Self::Address(network(address))
    }
}

/// Which limit a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The holder's own.
    Own { limit: usize },
    /// The gateway's.
    Total { limit: usize },
}

/// Counts what is held, in total and by each holder.
#[derive(Debug)]
pub struct Shares {
    total: usize,
    /// Seeded, so that a caller cannot choose a name that collides with another caller's.
    hasher: RandomState,
    held: Mutex<HeldAmounts>,
}

#[derive(Debug, Default)]
struct HeldAmounts {
    all: usize,
    by: HashMap<u64, usize>,
}

/// An amount that one holder has taken; released when dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    holder: u64,
    amount: usize,
    /// The limit of the holder.
    each: usize,
}

impl Shares {
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, hasher: RandomState::new(), held: Mutex::default() })
    }

    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether nothing is left.
    pub fn is_exhausted(&self) -> bool {
        self.held().all >= self.total
    }

    /// Takes an amount for a holder whose limit is `each`.
    pub fn take(
        self: &Arc<Self>,
        holder: Holder<'_>,
        amount: usize,
        each: usize,
    ) -> Result<Share, Exceeded> {
        let holder = self.hasher.hash_one(holder);
        let mut share = Share { shares: Arc::clone(self), holder, amount: 0, each };
        share.grow(amount)?;
        Ok(share)
    }

    fn held(&self) -> MutexGuard<'_, HeldAmounts> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Takes more. Nothing changes if that would exceed a limit.
    pub fn grow(&mut self, more: usize) -> Result<(), Exceeded> {
        let mut held = self.shares.held();
        let own = held.by.get(&self.holder).copied().unwrap_or(0).saturating_add(more);
        if own > self.each {
            return Err(Exceeded::Own { limit: self.each });
        }
        // One holder's allowance always fits into the total.
        let total = self.shares.total.max(self.each);
        let all = held.all.saturating_add(more);
        if all > total {
            return Err(Exceeded::Total { limit: total });
        }
        held.all = all;
        held.by.insert(self.holder, own);
        self.amount += more;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut held = self.shares.held();
        held.all -= self.amount;
        if let Some(own) = held.by.get_mut(&self.holder) {
            *own -= self.amount;
            if *own == 0 {
                held.by.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: Holder<'_> = Holder::Caller("acme", "ann");
    const BOB: Holder<'_> = Holder::Caller("acme", "bob");

    #[test]
    fn one_holder_cannot_take_what_others_need() {
        let shares = Shares::new(10);
        let mut anns = shares.take(ANN, 4, 6).unwrap();
        assert_eq!(shares.take(ANN, 3, 6).err(), Some(Exceeded::Own { limit: 6 }));
        anns.grow(2).unwrap();
        assert_eq!(anns.grow(1), Err(Exceeded::Own { limit: 6 }));
        let bobs = shares.take(BOB, 4, 6).unwrap();
        assert_eq!(shares.take(BOB, 1, 6).err(), Some(Exceeded::Total { limit: 10 }));
        drop(anns);
        assert!(shares.take(BOB, 2, 6).is_ok());
        drop(bobs);
        let held = shares.held();
        assert_eq!((held.all, held.by.len()), (0, 0), "everything was released");
    }

    #[test]
    fn an_ipv6_network_is_one_holder() {
        let shares = Shares::new(10);
        let at = |text: &str| Holder::at(text.parse().unwrap());
        let _first = shares.take(at("2001:db8::1"), 1, 1).unwrap();
        assert!(shares.take(at("2001:db8::2"), 1, 1).is_err());
        assert!(shares.take(at("2001:db8:0:1::1"), 1, 1).is_ok());
        let _mapped = shares.take(at("::ffff:10.0.0.1"), 1, 1).unwrap();
        assert!(shares.take(at("10.0.0.1"), 1, 1).is_err());
        assert!(shares.take(at("10.0.0.2"), 1, 1).is_ok());
    }
}
