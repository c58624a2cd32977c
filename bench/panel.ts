/** The panels in a browser: 50 runs compared, 20,000 and a million steps, a zoom, a scrub; and 200 runs after a cold start. `[--runs=50] [--list=200]` */
import { performance } from "node:perf_hooks";
import type { CDPSession } from "playwright-core";
import { compareVersion } from "../shared/editor/comparePanel.ts";
import { panelVersion } from "../shared/editor/runPanel.ts";
import { ask } from "../shared/daemon/request.ts";
import { runsCompare, runsList } from "../shared/protocol/protocol.ts";
import { isRunning } from "../shared/daemon/process.ts";
import { Sandbox, kill, until } from "../test/rpc/daemon.ts";
import { end, metrics } from "../test/unit/log/sample.ts";
import { chart, launch, plot, skip, type Panel } from "../test/webview/harness.ts";
import { answered, longRun, longShow } from "../test/webview/longRun.ts";
import { measured, median, option, skipped } from "./report.ts";
import { ingested, writtenRun } from "./store.ts";

const compared = option("runs", 50);
const listed = option("list", 200);
const lanes = Array.from({ length: 12 }, (_, index) => `bench/lane${index}`);
const steps = 2_000;

function writeRuns(store: string, count: number, length: number): readonly string[] {
  return Array.from({ length: count }, (_, run) => {
    const id = `bench-${String(run).padStart(4, "0")}`;
    const { log } = writtenRun(store, id, length);
    for (let step = 0; step < length; step++) {
      log.append(
        metrics(
          step,
          Object.fromEntries(
            lanes.map((lane, at) => [lane, Math.sin((step + run) / (at + 1)) + at + run / 10]),
          ),
        ),
      );
      log.commit(step);
    }
    log.append(end(length - 1));
    log.commit(length - 1);
    log.close();
    return id;
  });
}

/** Milliseconds of processor time that the page's main thread takes for something: waiting for a frame costs none. */
async function busy(session: CDPSession, act: () => Promise<unknown>): Promise<number> {
  const spent = async (): Promise<number> => {
    const { metrics: found } = await session.send("Performance.getMetrics");
    return 1000 * (found.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  const before = await spent();
  await act();
  return (await spent()) - before;
}

const heap = async (session: CDPSession): Promise<number> => {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics: found } = await session.send("Performance.getMetrics");
  return (found.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 2 ** 20;
};

async function watched(panel: Panel): Promise<CDPSession> {
  const session = await panel.page.context().newCDPSession(panel.page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return session;
}

/** From the request to the charts: the daemon's answer, its way into the page, and the drawing. */
async function compare(): Promise<void> {
  const box = await Sandbox.make();
  const rig = await launch("compare");
  try {
    const ids = writeRuns(box.store, compared, steps);
    const connection = await box.connect();
    for (const id of ids) await ingested(connection, id, steps - 1);
    const [answers, whole]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round++) {
      const panel = await rig.open();
      const start = performance.now();
      const comparison = await ask(connection, runsCompare, { runs: [...ids], metrics: lanes });
      answers.push(performance.now() - start);
      await panel.send({ version: compareVersion, type: "comparison", comparison });
      await panel.page
        .locator("canvas")
        .nth(lanes.length - 1)
        .waitFor();
      whole.push(performance.now() - start);
      if (panel.faults.length > 0) throw new Error(panel.faults.join("\n"));
      await panel.close();
    }
    const setting = `${compared} runs × ${steps} steps × ${lanes.length} lanes`;
    measured({ what: "compare: the daemon's answer", value: median(answers), unit: "ms", setting });
    measured({ what: "compare: to the charts", value: median(whole), unit: "ms", goal: 1000, setting });
  } finally {
    await rig.close();
    await box.end();
  }
}

/** Runs in the page: milliseconds from a message's arrival to a frame with the charts in view. */
const untilDrawn = (message: object): Promise<number> =>
  new Promise((done) => {
    const start = performance.now();
    window.postMessage(message, "*");
    const look = (): void => {
      const drawn = document.querySelector("[data-chart=reward] canvas") !== null;
      if (drawn) setTimeout(() => done(performance.now() - start));
      else requestAnimationFrame(look);
    };
    look();
  });

/** @param length of the run in steps */
async function story(length: number): Promise<void> {
  const rig = await launch();
  try {
    const recorded = longRun(length);
    const message = longShow(length);
    const shown: number[] = [];
    for (let round = 0; round < 5; round++) {
      const panel = await rig.open();
      shown.push(await panel.page.evaluate(untilDrawn, message as object));
      await panel.close();
    }
    const setting = `${length} steps`;
    measured({ what: "run panel: to the charts", value: median(shown), unit: "ms", goal: 1000, setting });
    const panel = await rig.open();
    const session = await watched(panel);
    await panel.send(message);
    const slider = plot(panel, "entropy");
    await slider.focus();
    await panel.page.keyboard.press("End");
    const scrubs: number[] = [];
    for (let key = 0; key < 20; key++)
      scrubs.push(await busy(session, () => panel.page.keyboard.press("ArrowLeft")));
    measured({
      what: "run panel: a step of the cursor",
      value: median(scrubs),
      unit: "ms",
      goal: 50,
      setting,
    });
    await zooms(panel, session, recorded, setting);
    measured({ what: "run panel: its heap", value: await heap(session), unit: "MB", goal: 150, setting });
    if (panel.faults.length > 0) throw new Error(panel.faults.join("\n"));
    await panel.close();
  } finally {
    await rig.close();
  }
}

/** Runs in the page: milliseconds that the panel works at the next release of the button, the browser's painting apart. */
const time = (): void => {
  (window as unknown as { spent: Promise<number> }).spent = new Promise((done) => {
    let start = 0;
    window.addEventListener("mouseup", () => (start = performance.now()), { capture: true, once: true });
    window.addEventListener("mouseup", () => done(performance.now() - start), { once: true });
  });
};

/** Dragging over ever shorter stretches: what is drawn at once, and the finer answer when it comes. */
async function zooms(
  panel: Panel,
  session: CDPSession,
  recorded: ReturnType<typeof longRun>,
  setting: string,
): Promise<void> {
  const [at, refined]: [number[], number[]] = [[], []];
  let last = 0;
  await chart(panel, "entropy").scrollIntoViewIfNeeded();
  const { mouse } = panel.page;
  for (let round = 0; round < 8; round++) {
    // What is above it may have grown.
    const box = (await chart(panel, "entropy").locator(".u-over").boundingBox())!;
    await mouse.move(box.x + box.width * 0.25, box.y + 60);
    await mouse.down();
    await mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await panel.page.evaluate(time);
    await mouse.up();
    at.push(await panel.page.evaluate(() => (window as unknown as { spent: Promise<number> }).spent));
    const asked = (await panel.posted()).filter((message) => message.type === "range").at(-1);
    if (asked?.type !== "range" || asked.id === last) throw new Error("the chart was not zoomed");
    last = asked.id;
    const series = answered(recorded, asked.from, asked.to);
    refined.push(
      await busy(session, () => panel.send({ version: panelVersion, type: "range", id: asked.id, series })),
    );
  }
  measured({ what: "run panel: a zoom, median", value: median(at), unit: "ms", goal: 16, setting });
  measured({ what: "run panel: the slowest zoom", value: Math.max(...at), unit: "ms", goal: 16, setting });
  measured({
    what: "run panel: the finer answer, drawn",
    value: median(refined),
    unit: "ms",
    setting,
  });
}

/** The list after the daemon has started anew, as when a window opens. */
async function list(): Promise<void> {
  const box = await Sandbox.make();
  try {
    const ids = writeRuns(box.store, listed, 20);
    let link = await box.link();
    const first = link.connection();
    for (const id of ids) await ingested(first, id, 19);
    const [starts, times]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round++) {
      const { pid } = link.hello;
      kill(pid, "SIGTERM");
      await until(async () => (isRunning(pid) ? null : true), "the daemon to end");
      const start = performance.now();
      link = await box.link();
      const connected = performance.now();
      const { runs } = await ask(link.connection(), runsList, { limit: listed });
      starts.push(connected - start);
      times.push(performance.now() - connected);
      if (runs.length !== listed) throw new Error(`${runs.length} runs were listed`);
    }
    const setting = `${listed} runs`;
    measured({ what: "the daemon's start", value: median(starts), unit: "ms", setting });
    measured({ what: "list of runs, cold", value: median(times), unit: "ms", goal: 300, setting });
  } finally {
    await box.end();
  }
}

await list();
if (skip === false) {
  await compare();
  await story(20_000);
  await story(1_000_000);
} else skipped("panels", skip);
