/** An index of Python packages on this machine alone, with the wheels that the engine of a system is made of. */
import { execFile, spawnSync } from "node:child_process";
import { createReadStream, mkdirSync, readdirSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

interface Wheel {
  readonly name: string;
  readonly version?: string;
  readonly python: string;
  readonly platforms: readonly string[];
}
interface Systems {
  readonly systems: Readonly<Record<string, { readonly cpu: Wheel; readonly runtime?: Wheel }>>;
}
const load = async <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(process.cwd(), "scripts", "setup", `${name}.mjs`)).href);

/** Undefined, or why no wheel can be fetched here for the index. */
export const whyNoWheels = (): string | undefined =>
  spawnSync("python3", ["-m", "pip", "--version"]).status === 0
    ? undefined
    : "no Python with pip here to fetch wheels with";

async function fetchWheels(folder: string, system: string): Promise<void> {
  const { systems } = await load<Systems>("systems");
  const { versions } = await load<{ versions: { tensorflow: string } }>("places");
  const { cpu, runtime } = systems[system]!;
  mkdirSync(folder, { recursive: true });
  for (const wheel of [cpu, ...(runtime === undefined ? [] : [runtime])]) {
    const requirement = `${wheel.name}==${wheel.version ?? versions.tensorflow}`;
    const target = [
      "--python-version",
      wheel.python,
      ...wheel.platforms.flatMap((one) => ["--platform", one]),
    ];
    const flags = ["-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder];
    await run("python3", [...flags, ...target, requirement]);
  }
}

function answer(
  files: readonly string[],
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const [, kind, name] = url.split("/");
  const projectOf = (file: string): string =>
    basename(file).split("-")[0]!.replaceAll("_", "-").toLowerCase();
  if (kind === "simple") {
    const links = files
      .filter((file) => projectOf(file) === name)
      .map((file) => `<a href="/files/${basename(file)}">${basename(file)}</a>`);
    return void response.end(links.join("\n"));
  }
  const file = files.find((one) => basename(one) === name);
  if (file === undefined) return void response.writeHead(404).end();
  const start = Number(/\d+/.exec(headers.range ?? "0")?.[0]);
  response.writeHead(start === 0 ? 200 : 206, { "Content-Length": statSync(file).size - start });
  createReadStream(file, { start }).pipe(response);
}

export interface WheelIndex {
  readonly url: string;
  close(): void;
}

/** Fetches the wheels into a folder and serves them. */
export async function serveWheels(folder: string, system: string): Promise<WheelIndex> {
  await fetchWheels(folder, system);
  const files = readdirSync(folder).map((name) => join(folder, name));
  const server = createServer((request, response) => answer(files, request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
