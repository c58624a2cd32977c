/** 100,000 malformed messages and frames to a real daemon: memory, and what another client waits. `[--messages=100000 --seed=1]` */
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../shared/daemon/request.ts";
import { daemonStatus, runsList } from "../shared/protocol/protocol.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { assail, residentMb } from "../test/rpc/malformed.ts";
import { measured, option, quantile, skipped } from "./report.ts";

const messages = option("messages", 100_000);
const seed = option("seed", 1);
/** A process first grows to what it needs; from this share on it must not. */
const warm = 0.2;

if (process.platform !== "linux") skipped("fuzz", "memory of a process is read from /proc");
else await fuzz();

/** Milliseconds of each answer to a client that asks one question after the other, while `work` goes on. */
async function latencies(connection: MessageConnection, work: Promise<unknown>): Promise<readonly number[]> {
  const state = { over: false };
  const finished = work.finally(() => (state.over = true));
  const times: number[] = [];
  while (!state.over) {
    const began = performance.now();
    await ask(connection, runsList, {});
    times.push(performance.now() - began);
    await wait(5);
  }
  await finished;
  return times;
}

async function fuzz(): Promise<void> {
  const box = await Sandbox.make();
  try {
    const connection = await box.connect();
    const { pid } = await ask(connection, daemonStatus, {});
    const discovery = box.discovery();
    if (discovery === null) throw new Error("the daemon has no discovery file");
    const memory: { sent: number; mb: number }[] = [{ sent: 0, mb: residentMb(pid) }];
    const began = performance.now();
    const work = assail(discovery, messages, seed, (sent) => memory.push({ sent, mb: residentMb(pid) }));
    const times = await latencies(connection, work);
    const seconds = (performance.now() - began) / 1000;
    const status = await ask(connection, daemonStatus, {});
    if (status.pid !== pid) throw new Error("the daemon did not live through it");
    const setting = `${memory.at(-1)?.sent ?? 0} messages in ${seconds.toFixed(0)} s, seed ${seed}`;
    const late = memory.filter(({ sent }) => sent >= warm * messages).map(({ mb }) => mb);
    const third = Math.ceil(late.length / 3);
    const growth = quantile(late.slice(-third), 0.5) - quantile(late.slice(0, third), 0.5);
    measured({ what: "fuzz: memory at first", value: memory[0]?.mb ?? NaN, unit: "MB", setting });
    measured({
      what: "fuzz: memory at most",
      value: Math.max(...memory.map(({ mb }) => mb)),
      unit: "MB",
      setting,
    });
    measured({ what: "fuzz: growth after a fifth of them", value: growth, unit: "MB", goal: 25, setting });
    measured({ what: "fuzz: another client, median", value: quantile(times, 0.5), unit: "ms", setting });
    measured({
      what: "fuzz: another client, p99",
      value: quantile(times, 0.99),
      unit: "ms",
      goal: 500,
      setting,
    });
    measured({ what: "fuzz: another client, longest", value: Math.max(...times), unit: "ms", setting });
    measured({ what: "fuzz: daemon.log", value: box.log().length / 1e6, unit: "MB", goal: 5, setting });
  } catch (error) {
    console.error(box.log().slice(-2_000));
    throw error;
  } finally {
    await box.end();
  }
}
