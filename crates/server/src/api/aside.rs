//! Answers that take long to compute, on threads beside that of the API, which continues with other
//! requests.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::cost::counted;
use super::problem::Problem;

/// Permits to compute.
#[derive(Debug)]
pub(super) struct Aside(Arc<Semaphore>);

impl Default for Aside {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Aside {
    /// Computes an answer, after those that are being computed if there are many.
    ///
    /// # Errors
    /// The computation has panicked, or the API is ending.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(|_| Problem::stopped())?;
        let work = counted(work);
        let work = move || {
            let done = work();
            // The work takes a processor until its end, also if the caller has gone.
            drop(permit);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Problem::stopped())
    }
}

/// Answers that are computed at the same time.
pub(super) const AT_ONCE: usize = 2;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::{AT_ONCE, Aside};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn other_requests_are_answered_meanwhile() {
        let aside = Aside::default();
        let (go_on, told) = mpsc::channel();
        runtime().block_on(async {
            let long = aside.compute(move || told.recv().unwrap());
            let short = async { go_on.send(7).unwrap() };
            assert_eq!(tokio::join!(long, short).0.unwrap(), 7);
        });
    }

    #[test]
    fn only_so_many_are_computed_at_once_and_all_in_the_end() {
        let aside = Aside::default();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        runtime().block_on(async {
            let work = || {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                aside.compute(move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            };
            let all = tokio::join!(work(), work(), work(), work(), work(), work());
            assert!([all.0, all.1, all.2, all.3, all.4, all.5].iter().all(Result::is_ok));
        });
        assert!((1..=AT_ONCE).contains(&most.load(Ordering::SeqCst)));
    }
}
