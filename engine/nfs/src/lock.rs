//! Locks that a panic of another thread does not close: what they protect is whole at any time.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
