//! Version, history, limits and units of this collector.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use inband_collector::CongestionSettings;
use inband_model::api::{About, AboutCongestion, AboutLimits, AboutNode, AboutTable, Nothing};
use inband_model::table::shapes;

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use super::views::json;
use crate::archive::Archive;

pub(super) async fn about(
    State(state): State<Shared>,
    headers: HeaderMap,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let settings = &state.settings;
    let limits = AboutLimits {
        query_seconds: settings.query_seconds,
        query_bytes: settings.query_bytes as u64,
        query_rows: settings.query_rows as u64,
    };
    let mut about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        now: now.into(),
        limits,
        congestion: congestion(&state.look(|sight| sight.collector.congestion_settings().clone()).await?),
        nodes: nodes(&state),
        may_change: state.access.may_change(&headers),
        ..About::default()
    };
    if let Some(archive) = state.archive.clone() {
        let kept = tokio::task::spawn_blocking(move || kept(&*archive, about)).await;
        about = kept.map_err(|_| Problem::stopped())?;
    }
    Ok(json(&about))
}

/// Adds the archive's state.
fn kept(archive: &dyn Archive, about: About) -> About {
    let table = |shape: inband_model::table::Shape| AboutTable {
        name: shape.name.to_owned(),
        about: shape.about.to_owned(),
        retain_seconds: archive.retains(shape.name).as_secs(),
        columns: shape.columns.iter().map(|(name, ..)| (*name).to_owned()).collect(),
    };
    let history = archive.snapshot().ok();
    About {
        history: true,
        trouble: archive.trouble(),
        oldest: history.as_ref().and_then(|history| history.oldest()).map(Into::into),
        bytes: history.map_or(0, |history| history.bytes()),
        max_bytes: archive.max_bytes(),
        tables: shapes().into_iter().map(table).collect(),
        ..about
    }
}

fn congestion(settings: &CongestionSettings) -> AboutCongestion {
    AboutCongestion {
        trigger_latency: settings.trigger_ns,
        reset_latency: settings.reset_latency().0,
        trigger_occupancy: settings.trigger_occupancy.map(u64::from),
        reset_occupancy: settings.calm_occupancy().map(u64::from),
        trigger_bytes: settings.trigger_bytes,
        reset_bytes: settings.calm_bytes(),
    }
}

fn nodes(state: &Shared) -> Vec<AboutNode> {
    let mut nodes: BTreeMap<u32, AboutNode> = BTreeMap::new();
    for (node, units) in state.names.units().iter() {
        let about = AboutNode {
            node: node.0,
            name: None,
            queue_unit: units.queue.map(|unit| unit.name().to_owned()),
            cell_bytes: units.cell_bytes,
            utilization_full: units.utilization_full,
        };
        nodes.insert(node.0, about);
    }
    for (node, name) in state.names.of_nodes() {
        let about = nodes.entry(node).or_insert(AboutNode { node, ..AboutNode::default() });
        about.name = Some(name.to_owned());
    }
    nodes.into_values().collect()
}
