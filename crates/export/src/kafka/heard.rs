//! The delivery results of a batch.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rdkafka::ClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{DeliveryResult, ProducerContext};

/// What the client reports of a batch while it is polled.
#[derive(Debug, Default)]
pub(super) struct Heard(Mutex<Round>);

/// One batch.
#[derive(Debug, Default)]
struct Round {
    /// By position in the batch.
    fates: Vec<Fate>,
    /// Messages that the client has without a result.
    handed_over: usize,
    /// The latest connection error.
    why: Option<String>,
}

/// The state of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// The client does not have it.
    Waiting,
    /// The client has it, without a result.
    HandedOver,
    /// A broker and its replicas have it.
    Acknowledged,
    /// The client did not accept it.
    Unsendable(KafkaError),
    /// A broker refused it, or none acknowledged it.
    Failed(KafkaError),
}

impl Fate {
    /// Whether a broker may have it without acknowledgement: it was sent, and there was no answer.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::HandedOver => true,
            Self::Failed(error) => matches!(
                error.rdkafka_error_code(),
                Some(RDKafkaErrorCode::MessageTimedOut | RDKafkaErrorCode::PurgeInflight)
            ),
            Self::Waiting | Self::Acknowledged | Self::Unsendable(_) => false,
        }
    }
}

impl Heard {
    /// Begins a batch; `acknowledged` tells for each message whether it is acknowledged already.
    pub(super) fn begin(&self, acknowledged: impl Iterator<Item = bool>) {
        let fate = |acknowledged| if acknowledged { Fate::Acknowledged } else { Fate::Waiting };
        *self.round() = Round { fates: acknowledged.map(fate).collect(), ..Round::default() };
    }

    /// Whether the message at this position is to be sent.
    pub(super) fn is_waiting(&self, place: usize) -> bool {
        self.round().fates.get(place) == Some(&Fate::Waiting)
    }

    /// Records the state of the message at this position.
    pub(super) fn note(&self, place: usize, fate: Fate) {
        let Round { fates, handed_over, .. } = &mut *self.round();
        let Some(known) = fates.get_mut(place) else { return };
        *handed_over -= usize::from(*known == Fate::HandedOver);
        *handed_over += usize::from(fate == Fate::HandedOver);
        *known = fate;
    }

    /// Messages that the client has without a result.
    pub(super) fn handed_over(&self) -> usize {
        self.round().handed_over
    }

    /// Takes the state of every message of the batch, and the latest connection error.
    pub(super) fn take(&self) -> (Vec<Fate>, Option<String>) {
        let Round { fates, why, .. } = std::mem::take(&mut *self.round());
        (fates, why)
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        // Nothing panics while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientContext for Heard {
    fn error(&self, error: KafkaError, reason: &str) {
        // "All brokers are down" is less specific than the error of each.
        let is_summary = error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown);
        let why = &mut self.round().why;
        if !is_summary || why.is_none() {
            *why = Some(reason.to_owned());
        }
    }
}

impl ProducerContext for Heard {
    /// The position of the message in the batch.
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, place: usize) {
        self.note(
            place,
            match result {
                Ok(_) => Fate::Acknowledged,
                Err((error, _)) => Fate::Failed(error.clone()),
            },
        );
    }
}
