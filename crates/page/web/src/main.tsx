// The page: the frame, and the view that the address names.

import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { learnAbout } from "./about";
import { address, catchLinks } from "./address";
import { token } from "./api";
import { Empty, isReady } from "./parts/answer";
import { type Entry, Help, Rail, Said, Strip, TimeBar, TokenWanted } from "./parts/frame";
import { isExact } from "./json";
import { onKey } from "./keys";
import { learn } from "./names";
import { follow } from "./stream";
import { shown } from "./units";
import { Drops } from "./views/drops";
import { Event } from "./views/event";
import { Events } from "./views/events";
import { Flow } from "./views/flow";
import { Flows } from "./views/flows";
import { Map } from "./views/map";
import { Now } from "./views/now";
import { Query } from "./views/query";
import { Queue } from "./views/queue";
import { Queues } from "./views/queues";
import { Report } from "./views/report";
import { Reports } from "./views/reports";

const ENTRIES: Entry[] = [
  { path: "/", name: "Now", key: "n", isHere: (first) => first === "" },
  { path: "/map", name: "Map", key: "m", isHere: (first) => first === "map" },
  { path: "/flows", name: "Flows", key: "f", isHere: (first) => first.startsWith("flow") },
  { path: "/queues", name: "Queues", key: "q", isHere: (first) => first.startsWith("queue") && first !== "query" },
  { path: "/events", name: "Events", key: "e", isHere: (first) => first.startsWith("event") || first === "drops" },
  { path: "/reports", name: "Reports", key: "r", isHere: (first) => first.startsWith("report") },
  { path: "/query", name: "Query", key: "s", isHere: (first) => first === "query" },
];

function View({ path }: { path: string[] }) {
  const [first = "", ...rest] = path;
  switch (first) {
    case "":
      return <Now />;
    case "drops":
      return <Drops />;
    case "map":
      return <Map />;
    case "queues":
      return <Queues />;
    case "queue":
      return <Queue node={rest[0] ?? ""} port={rest[1] ?? "-"} queue={rest[2] ?? ""} key={rest.join("/")} />;
    case "reports":
      return <Reports />;
    case "report":
      return <Report node={rest[0] ?? ""} hw={rest[1] ?? "0"} sequence={rest[2] ?? ""} key={rest.join("/")} />;
    case "query":
      return <Query />;
    case "flows":
      return <Flows />;
    case "flow":
      return <Flow name={rest[0] ?? ""} key={rest[0]} />;
    case "events":
      return <Events />;
    case "event":
      return <Event id={rest[0] ?? ""} key={rest[0]} />;
    default:
      isReady.value = true;
      return (
        <>
          <h1>No such view</h1>
          <Empty>
            There is no view “{shown("/" + path.join("/"))}”. Choose one from the list of views; the time range is kept.
          </Empty>
        </>
      );
  }
}

function Page() {
  const path = address.value.path;
  const main = useRef<HTMLElement>(null);
  const name = ENTRIES.find(({ isHere }) => isHere(path[0] ?? ""))?.name ?? "inband";
  const isFirst = useRef(true);
  useEffect(() => {
    // The focused element may have been removed with the previous view.
    if (!isFirst.current && document.activeElement === document.body) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    document.title = `${name} · inband`;
    return () => {
      isReady.value = false;
    };
  }, [path.join("/")]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>Skip to the view</a>
      <Strip />
      <Rail entries={ENTRIES} />
      <TimeBar />
      <main id="main" ref={main} tabIndex={-1} data-ready={isReady.value ? "" : undefined}>
        <TokenWanted />
        <View path={path} />
      </main>
      <Help />
      <Said />
    </>
  );
}

// What the page needs and browsers learned last.
if (isExact() && "any" in AbortSignal) {
  document.addEventListener("click", catchLinks);
  document.addEventListener("keydown", onKey);
  render(<Page />, document.getElementById("page")!);
  // Also once a token is given.
  token.subscribe(() => void (learn(), learnAbout()));
  setInterval(() => void (learn(), learnAbout()), 15_000);
  void follow();
} else {
  document.getElementById("page")!.textContent =
    "This browser is too old. Use Chrome 116, Firefox 135, Safari 18.4 or later.";
}
