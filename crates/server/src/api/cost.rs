//! What an answer costs: the processor time of other threads that work for it. The time that passes says
//! little where processors are busy with other things.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::processor_time::processor_time;

tokio::task_local! {
    /// Nanoseconds that other threads have worked for the answer of this task.
    static SPENT: Arc<AtomicU64>;
}

/// Awaits an answer; returns it with its cost.
pub(super) async fn measured<A: Future>(answer: A) -> (A::Output, Duration) {
    let spent = Arc::<AtomicU64>::default();
    let answered = SPENT.scope(Arc::clone(&spent), answer).await;
    (answered, Duration::from_nanos(spent.load(Ordering::Relaxed)))
}

/// Work for another thread that counts as a cost of the answer of this task.
pub(super) fn counted<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let spent = SPENT.try_with(Arc::clone).ok();
    move || {
        let begun = processor_time();
        let done = work();
        let took = processor_time().saturating_sub(begun);
        if let Some(spent) = spent {
            spent.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{counted, measured, processor_time};

    #[test]
    fn an_answer_costs_the_work_of_other_threads_and_not_its_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let wait = measured(async {
                let sleep = counted(|| std::thread::sleep(Duration::from_millis(300)));
                tokio::task::spawn_blocking(sleep).await.unwrap();
            });
            assert!(wait.await.1 < Duration::from_millis(100));

            let busy = measured(async {
                let spin = counted(|| {
                    let begun = processor_time();
                    let end = Instant::now() + Duration::from_secs(60);
                    while processor_time() - begun < Duration::from_millis(20) {
                        assert!(Instant::now() < end);
                    }
                });
                tokio::task::spawn_blocking(spin).await.unwrap();
            });
            assert!(busy.await.1 >= Duration::from_millis(20));
        });
    }
}
