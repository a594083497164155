use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_collector::CollectorSettings;
use inband_export::{Exports, OtlpSettings};
use inband_store::{Store, StoreSettings};
use inband_testkit::http_server::Server;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use prost::Message;

use super::CollectorMetrics;
use crate::archive::Archive;
use crate::pipeline::Pipeline;
use crate::receive::Reception;
use crate::settings::{ReceiveSettings, Settings};

#[test]
fn metrics_in_otlp_are_those_of_the_page_for_prometheus() {
    let (server, exports, reception, pipeline) = collector(1);
    let path = std::env::temp_dir().join(format!("inband-metrics-{}", std::process::id()));
    let store = StoreSettings { path: path.clone(), ..StoreSettings::default() };
    let store = Arc::new(Store::open(store).unwrap());
    let archive: Arc<dyn Archive> = store.clone();
    exports.measure(CollectorMetrics::new(pipeline.asker(), Arc::default(), Some(&archive)));
    drop(archive);
    let deadline = Instant::now() + Duration::from_secs(60);
    while exports.ledgers()[0].exported < 2 {
        assert!(Instant::now() < deadline, "{:?}", exports.ledgers());
        std::thread::sleep(Duration::from_millis(5));
    }
    reception.stop();
    let ledger = pipeline.stop().unwrap().ledger;
    assert!(ledger.exports[0].balances() && ledger.total.exported >= 2, "{ledger:?}");

    let request = server.taken().pop().unwrap();
    assert!(request.head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{}", request.head);
    let metrics = metrics_in(&request.body);
    let named = |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap();
    let Some(Data::Sum(received)) = &named("inband_datagrams_received_total").data else { panic!("no sum") };
    assert!(received.is_monotonic && received.data_points.len() == 1);
    assert!(received.data_points[0].start_time_unix_nano < received.data_points[0].time_unix_nano);
    let Some(Data::Sum(exported)) = &named("inband_export_exported_total").data else { panic!("no sum") };
    assert!(format!("{:?}", exported.data_points[0].attributes).contains("otlp"));
    assert!(matches!(named("inband_flows").data, Some(Data::Gauge(_))));
    let Some(Data::Gauge(up)) = &named("inband_store_up").data else { panic!("no gauge") };
    assert_eq!(up.data_points[0].value, Some(Number::AsDouble(1.0)));
    assert!(matches!(named("inband_store_removed_segments_total").data, Some(Data::Sum(_))));
    assert!(Arc::into_inner(store).is_some(), "who sends does not keep the store open");
    let _ = std::fs::remove_dir_all(path);
}

#[test]
fn the_last_metrics_count_every_datagram() {
    let (server, exports, reception, pipeline) = collector(3_600);
    exports.measure(CollectorMetrics::new(pipeline.asker(), Arc::default(), None));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..5 {
        socket.send_to(&[number], reception.addresses()[0]).unwrap();
    }
    reception.stop();
    let ledger = pipeline.stop().unwrap().ledger;
    assert!(ledger.exports[0].balances() && ledger.total.exported == 1, "{ledger:?}");

    let [request] = &server.taken()[..] else { panic!("one message") };
    let metrics = metrics_in(&request.body);
    let received = metrics.iter().find(|metric| metric.name == "inband_datagrams_received_total").unwrap();
    let Some(Data::Sum(received)) = &received.data else { panic!("{received:?}") };
    assert_eq!(received.data_points[0].value, Some(Number::AsDouble(5.0)));
}

/// A collector that sends its metrics to a server.
fn collector(metrics_seconds: u64) -> (Server, Exports, Reception, Pipeline) {
    let server = Server::start("127.0.0.1:0", &[]);
    let endpoint = format!("http://{}/", server.address);
    let otlp = OtlpSettings { endpoint, metrics_seconds, ..OtlpSettings::default() };
    let settings = Settings { otlp, ..Settings::default() };
    let (exports, stages) = Exports::start(&settings.exports(), &Arc::default()).unwrap();
    let listen = vec!["127.0.0.1:0".parse().unwrap()];
    let (reception, feed) =
        Reception::start(&ReceiveSettings { listen, ..ReceiveSettings::default() }).unwrap();
    let pipeline = Pipeline::start(CollectorSettings::default(), feed, stages).unwrap();
    (server, exports, reception, pipeline)
}

fn metrics_in(body: &[u8]) -> Vec<Metric> {
    let mut message = ExportMetricsServiceRequest::decode(body).unwrap();
    message.resource_metrics.swap_remove(0).scope_metrics.swap_remove(0).metrics
}
