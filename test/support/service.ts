/** The service of exported projects as they start it: the bundled file in a process of its own, asked over its socket. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { build } from "esbuild";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after } from "node:test";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "./until.ts";

let built: Promise<string> | undefined;

/** Built as it ships, once a process. */
export const serviceProgram = (): Promise<string> => (built ??= buildService());

async function buildService(): Promise<string> {
  const { entries }: { entries: { entryPoints: Record<string, string> }[] } = await import(
    pathToFileURL(resolve("esbuild.mjs")).href
  );
  const entry = entries.find(({ entryPoints }) => entryPoints["service"] !== undefined);
  assert.ok(entry);
  const outdir = mkdtempSync(join(tmpdir(), "gradus-service-"));
  process.on("exit", () => rmSync(outdir, { recursive: true, force: true }));
  await build({ ...entry, outdir });
  return join(outdir, "service.mjs");
}

export type Reply = Record<string, unknown>;

export interface Service {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  readonly ready: string;
  /** What it said on stderr. */
  said(): string;
  /** @returns the status and the answer; a text is sent as it is */
  ask(path: string, body?: object | string, headers?: Record<string, string>): Promise<[number, Reply]>;
  /** @returns when it has ended */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A project's folder with nothing but a config for the service. */
export function projectOf(config: string, files: Readonly<Record<string, string>> = {}): string {
  const project = mkdtempSync(join(tmpdir(), "gradus-project-"));
  mkdirSync(join(project, "service"));
  writeFileSync(join(project, "service", "config.gradus.yaml"), config);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, "service", name), text);
  return project;
}

export async function startService(
  project: string,
  options: readonly string[] = [],
  file?: string,
): Promise<Service> {
  const program = file ?? (await serviceProgram());
  const ready = join(project, "out", "curriculum", "service.json");
  // What a killed process has left names nobody.
  rmSync(ready, { force: true });
  const child = spawn(process.execPath, [program, project, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A test that fails leaves its service: nothing else would end it.
  after(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const over = new Promise<number | null>((done) => child.once("close", (code) => done(code)));
  await until(() => existsSync(ready) || child.exitCode !== null, "the service to be ready");
  assert.equal(child.exitCode, null, said);
  const { url, token }: { url: string; token: string } = JSON.parse(readFileSync(ready, "utf8"));
  return {
    ...{ url, token, child, ready },
    said: () => said,
    async ask(path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return [response.status, (await response.json()) as Reply];
    },
    end(signal = "SIGTERM") {
      child.kill(signal);
      return over;
    },
  };
}

export const decisionsOf = (project: string): Reply[] =>
  readFileSync(join(project, "out", "curriculum", "decisions.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Reply => JSON.parse(line));
