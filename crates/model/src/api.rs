//! Requests to a collector and its answers: the types behind `docs/openapi.json`.
//!
//! Requests are query parameters; their schema lists them with their ranges, and the server checks each
//! request against it. Lists are columns of one length, because ten thousand links as objects take ten times
//! as many bytes. Times in columns are nanoseconds after `base`. `base` and ids are text: both exceed the
//! integers that JSON readers using doubles keep exactly.

mod about;
mod decode;
mod drops;
mod ecmp;
mod events;
mod exact;
mod flow_history;
mod flow_list;
mod flows;
mod heat;
mod latency;
mod links;
mod lists;
mod map;
mod nodes;
mod packets;
mod problem;
mod query;
mod queue_timeline;
mod queues;
mod reports;
mod summary;
mod talkers;
mod time;
mod window;

pub use self::about::{About, AboutCongestion, AboutLimits, AboutNode, AboutTable};
pub use self::decode::{
    CaptureQuestion, CapturedReport, DecodeFault, DecodeQuestion, DecodeStart, Decoded, DecodedCapture,
    DecodedFields,
};
pub use self::drops::{DropColumns, DropGrouping, DropReason, DropSeries, Drops, DropsQuestion};
pub use self::ecmp::{
    Ecmp, EcmpFlowColumns, EcmpGroupColumns, EcmpLinkColumns, EcmpLoad, EcmpQuestion, EcmpSeries,
};
pub use self::events::{EventLabels, NamedEvent, Nothing, Number, NumberedSilence};
pub use self::exact::Exact;
pub use self::flow_history::{
    FlowHistory, FlowHistoryQuestion, PathComparison, PathHop, PathLink, PathPeriod, PeriodReason,
};
pub use self::flow_list::{
    Completion, CompletionOption, CompletionQuestion, FlowColumns, FlowList, FlowSearchQuestion, FlowSort,
};
pub use self::flows::{FlowPathView, FlowPaths, FlowView, NamedFlow, PathBetween};
pub use self::heat::{Heat, HeatColumns, HeatOf, HeatQuestion};
pub use self::latency::LatencySummary;
pub use self::links::{LinkView, NamedLink, NamedTopology, TopologyView};
pub use self::lists::{
    BetweenQuestion, EventsQuestion, LimitQuestion, ListQuestion, StreamQuestion, TalkersBy, TalkersQuestion,
};
pub use self::map::{
    FabricMap, MapBundleColumns, MapColor, MapForm, MapGroup, MapGroupColumns, MapInterfaceColumns,
    MapLinkColumns, MapNodeColumns, MapQuestion,
};
pub use self::nodes::{LevelView, NamedNode, NamedPort, NodeView, PortView};
pub use self::packets::{HopColumn, PacketColumns, PacketOrder, Packets, PacketsQuestion};
pub use self::problem::Problem;
pub use self::query::{Damage, Rows, SqlFormat, SqlIntegers, SqlQuestion};
pub use self::queue_timeline::{
    QueueClock, QueueEpisode, QueueFlow, QueueFlowRole, QueueSampleColumns, QueueThresholds, QueueTimeline,
    QueueTimelineQuestion,
};
pub use self::queues::{NamedQueue, QueueView};
pub use self::reports::{KeptReport, ReportColumns, ReportList, ReportQuestion, ReportsQuestion};
pub use self::summary::{Incident, Summary, SummaryColumns, SummaryQuestion};
pub use self::talkers::{Talker, TalkerDestination, TalkerSource, Talkers};
pub use self::time::{Span, Time, TimeRange, TimeSelection, TimeSelectionError};
pub use self::window::{Window, WindowValues};
