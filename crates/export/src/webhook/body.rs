//! The request body for events.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use inband_model::{Event, EventView, Names, Phase};
use serde_json::{Value, json};

use super::settings::WebhookKind;
use crate::named_event::named_event;

/// How events are written.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) kind: WebhookKind,
    /// The URL of this collector for readers.
    pub(super) collector_url: String,
    /// How often active events are repeated to Alertmanager.
    pub(super) repeat: Duration,
    pub(super) names: Arc<Names>,
}

impl Format {
    /// The request body for these events at `now_ns`, nanoseconds since 1970.
    pub(super) fn body(&self, events: &[Event], now_ns: u64) -> Vec<u8> {
        let body = match self.kind {
            WebhookKind::Json => {
                let views: Vec<_> = events.iter().map(view).collect();
                let events: Vec<_> = views.iter().map(|view| named_event(&self.names, view)).collect();
                json!({ "version": 1, "collector": self.collector_url, "events": events })
            }
            WebhookKind::Alertmanager => events.iter().map(|event| self.alert(event, now_ns)).collect(),
        };
        body.to_string().into_bytes()
    }

    /// An alert for `POST /api/v2/alerts` of Alertmanager. Labels identify the alert, so they are those that
    /// do not change while it is active.
    fn alert(&self, event: &Event, now_ns: u64) -> Value {
        let kind = event.kind().name();
        // The clock may have been set back; Alertmanager refuses alerts that end before they start.
        let began = event.first.min(event.last).0;
        let over = match event.phase {
            Phase::End => event.last.0,
            // Expires if it is not repeated.
            Phase::Begin | Phase::Once => now_ns.saturating_add(nanoseconds(self.repeat * SILENT_REPEATS)),
        };
        let detail = serde_json::to_value(&event.detail).unwrap_or_default();
        let named = view(event);
        let named = serde_json::to_value(named_event(&self.names, &named)).unwrap_or_default();
        let mut alert = json!({
            "labels": {
                "alertname": kind,
                "severity": event.severity,
                "key": event.key,
                "event_id": event.id(),
                "service": "inband",
            },
            "annotations": {
                "summary": format!("{kind}: {}", self.names.key(&event.key)),
                "description": detail["detail"].to_string(),
                "reports": event.count.to_string(),
                "confidence": event.confidence,
            },
            "startsAt": written(began),
            "endsAt": written(over.max(began)),
            "generatorURL": format!("{}/api/v1/events", self.collector_url),
        });
        // Annotations are strings; unknown values are left out.
        for key in ["labels", "queue_unit", "peak_bytes", "utilization_permille"] {
            match &named[key] {
                Value::Null => {}
                Value::String(text) => alert["annotations"][key] = json!(text),
                other => alert["annotations"][key] = json!(other.to_string()),
            }
        }
        alert
    }
}

fn view(event: &Event) -> EventView {
    EventView { id: event.id(), event: event.clone(), acknowledged: None }
}

/// A time in RFC 3339 format.
fn written(at_ns: u64) -> String {
    let at: SystemTime = UNIX_EPOCH + Duration::from_nanos(at_ns);
    humantime::format_rfc3339_nanos(at).to_string()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Missed repetitions after which Alertmanager lets an event expire.
const SILENT_REPEATS: u32 = 4;
