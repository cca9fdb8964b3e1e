//! One hand at a time: the lock around "make the window active, then press" of programs that share a
//! desktop. Whoever has a desktop of his own does not need it.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ENVIRONMENT: Mutex<()> = Mutex::new(());

/// Waits until nobody else of this process holds it; freed when the guard is dropped, by a panic too.
pub fn env_lock() -> MutexGuard<'static, ()> {
    ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_at_a_time_and_a_panic_frees_it() {
        let panicked = std::thread::spawn(|| {
            let _held = env_lock();
            panic!("as agents do");
        });
        assert!(panicked.join().is_err());
        let held = env_lock();
        let other = std::thread::spawn(|| ENVIRONMENT.try_lock().is_err());
        assert!(other.join().unwrap());
        drop(held);
    }
}
