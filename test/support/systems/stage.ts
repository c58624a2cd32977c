/** A machine with the package on it and an index next to it, made when the first test of a file asks, gone after the last. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Machine, Setting } from "./machine.ts";
import { untarred } from "./packaged.ts";
import type { Played } from "./story.ts";
import { serveWheels } from "./wheelIndex.ts";

interface Stage {
  readonly home: string;
  play(): Promise<Played>;
}

/** @param system as the engine's table names it */
export function stage(system: string, machineOf: (setting: Setting) => Machine): Stage {
  // Short: sockets lie below it.
  const home = mkdtempSync(join(tmpdir(), "gs-"));
  const closed: (() => void)[] = [];
  let played: Promise<Played> | undefined;
  const prepare = async (): Promise<Played> => {
    const program = await untarred(join(home, "program"));
    const index = await serveWheels(join(home, "wheels"), system);
    closed.push(() => index.close());
    const folder = join(home, "project");
    mkdirSync(folder);
    return { machine: machineOf({ program, home, index: index.url }), folder };
  };
  after(async () => {
    const { machine, folder } = (await played) ?? {};
    if (folder !== undefined) await machine?.gradus(["daemon", "stop"], folder);
    machine?.close();
    for (const close of closed) close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  return { home, play: () => (played ??= prepare()) };
}
