/**
 * A real VS Code workbench for tests: the editor's own server on a free loopback port, opened in Chromium. Two users:
 * test/workbench/code.mjs runs mocha suites inside the extension host, scenarios drive the page as a person would.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { findBrowser, launchBrowser } from "./browser.ts";
import { patience, until } from "./until.ts";

export { until };

export const codeServerVersion = "4.100.3";

export interface WorkbenchOptions {
  /** A folder, a .code-workspace file, or nothing. Its folder is copied, so that a test may write, unless `inPlace`. */
  readonly open?: string;
  readonly inPlace?: boolean;
  /** User settings; trust and the start page are off unless they are named here. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly theme?: "light" | "dark" | "highContrast" | "highContrastLight";
  readonly reducedMotion?: boolean;
  /** Asks for workspace trust as a fresh installation does: the extension starts restricted. */
  readonly untrusted?: boolean;
  readonly extensionDevelopmentPath?: string;
  /** A packaged extension to install before the start. */
  readonly vsix?: string;
  readonly extensionTestsPath?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly viewport?: { readonly width: number; readonly height: number };
}

export interface Workbench {
  readonly url: string;
  /** What is opened: the copy of `open`. */
  readonly folder: string | undefined;
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the server printed. */
  log(): string;
  /** What went wrong in the page since the start. */
  readonly pageErrors: readonly string[];
  /** A second window on the same server. */
  newWindow(): Promise<Page>;
  /** Writes out/screenshots/<name>.png and returns its path. */
  screenshot(name: string, page?: Page): Promise<string>;
  /** Ends browser and server and removes everything temporary. Safe to call twice. */
  stop(): Promise<void>;
}

const themes = {
  light: "Default Light Modern",
  dark: "Default Dark Modern",
  highContrast: "Default High Contrast",
  highContrastLight: "Default High Contrast Light",
} as const;

interface Installed {
  readonly node: string;
  readonly server: string;
}

/** The workbench that set-up for the tests installed, or undefined. */
export function findWorkbench(): Installed | undefined {
  const data =
    process.env["GRADUS_TEST_DATA"] ??
    process.env["GRADUS_DATA"] ??
    join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "gradus");
  const file = join(data, "workbench", codeServerVersion, "ready.json");
  if (!existsSync(file)) return undefined;
  const { node, server }: Partial<Installed> = JSON.parse(readFileSync(file, "utf8"));
  return node !== undefined && server !== undefined && existsSync(node) && existsSync(server)
    ? { node, server }
    : undefined;
}

/** For the `skip` option of a scenario: false where it can run, else the reason. */
export function withoutWorkbench(): string | false {
  if (findBrowser() === undefined) return "no Chromium: install one or name it with $CHROMIUM";
  return findWorkbench() === undefined ? "no workbench: run `node scripts/setup.mjs --tests`" : false;
}

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === "object" ? done(address.port) : fail(new Error("no port")),
      );
    });
  });

function writeSettings(home: string, options: WorkbenchOptions): void {
  mkdirSync(join(home, "User"), { recursive: true });
  const settings = {
    "security.workspace.trust.enabled": options.untrusted === true,
    "workbench.startupEditor": "none",
    // In a browser the editor saves after a second: what a test takes back would then be on the disk.
    "files.autoSave": "off",
    "workbench.colorTheme": themes[options.theme ?? "dark"],
    "workbench.reduceMotion": options.reducedMotion === true ? "on" : "auto",
    "window.autoDetectColorScheme": false,
    "extensions.ignoreRecommendations": true,
    "extensions.autoCheckUpdates": false,
    "telemetry.telemetryLevel": "off",
    "chat.commandCenter.enabled": false,
    ...options.settings,
  };
  writeFileSync(join(home, "User", "settings.json"), JSON.stringify(settings, undefined, 2));
}

/** Copies what is opened, a workspace file with the folder around it. */
function copyOf(open: string, home: string): string {
  const path = resolve(open);
  if (!path.endsWith(".code-workspace")) {
    cpSync(path, join(home, "opened", basename(path)), { recursive: true });
    return join(home, "opened", basename(path));
  }
  cpSync(join(path, ".."), join(home, "opened"), { recursive: true });
  return join(home, "opened", basename(path));
}

class Server {
  readonly #child: ChildProcess;
  #output = "";
  #ended = false;
  readonly #exit: Promise<unknown>;

  constructor(installed: Installed, args: readonly string[], env: NodeJS.ProcessEnv) {
    // Its own process group: extension hosts and terminals end with it.
    this.#child = spawn(installed.node, [installed.server, ...args], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (chunk: Buffer): void => void (this.#output += chunk.toString("utf8"));
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    this.#exit = once(this.#child, "exit").then(() => (this.#ended = true));
  }

  get output(): string {
    return this.#output;
  }

  async ready(): Promise<void> {
    await until(() => this.#ended || this.#output.includes("agent started"), "the workbench's server");
    if (this.#ended) throw new Error(`the workbench's server ended:\n${this.#output}`);
  }

  signal(name: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, name);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }

  async stop(): Promise<void> {
    this.signal("SIGTERM");
    await Promise.race([this.#exit, wait(5_000)]);
    // What of its group is left, too.
    this.signal("SIGKILL");
    await until(() => this.#ended, "the workbench's server to end");
  }
}

async function installVsix(
  installed: Installed,
  vsix: string,
  places: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const child = spawn(
    installed.node,
    [installed.server, ...places, "--install-extension", resolve(vsix), "--force"],
    { env, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const status = await new Promise((done) => child.once("close", done));
  if (status !== 0) throw new Error(`installing ${vsix} ended with ${String(status)}:\n${output}`);
}

/** The page's address: what is opened, and an extension under development with its tests. */
function addressOf(port: number, opened: string | undefined, options: WorkbenchOptions): string {
  const remote = (path: string): string => `vscode-remote://127.0.0.1:${port}${resolve(path)}`;
  const payload = [
    ["skipWelcome", "true"],
    ["skipReleaseNotes", "true"],
    ...(options.extensionDevelopmentPath === undefined
      ? []
      : [["extensionDevelopmentPath", remote(options.extensionDevelopmentPath)]]),
    ...(options.extensionTestsPath === undefined
      ? []
      : [["extensionTestsPath", remote(options.extensionTestsPath)]]),
  ];
  const query = new URLSearchParams({ payload: JSON.stringify(payload) });
  if (opened !== undefined) query.set(opened.endsWith(".code-workspace") ? "workspace" : "folder", opened);
  else query.set("ew", "true");
  return `http://127.0.0.1:${port}/?${query.toString()}`;
}

/** Everything that a half-started workbench must give back, newest first. */
class Cleanup {
  readonly #steps: (() => unknown)[] = [];
  add(step: () => unknown): void {
    this.#steps.unshift(step);
  }
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) await step();
  }
}

/** Starts the server and a browser; the page is not opened yet (see `startWorkbench`). */
async function start(
  options: WorkbenchOptions,
  cleanup: Cleanup,
): Promise<{ server: Server; browser: Browser; url: string; opened: string | undefined }> {
  const installed = findWorkbench();
  if (installed === undefined) throw new Error("no workbench: run `node scripts/setup.mjs --tests`");
  const home = mkdtempSync(join(tmpdir(), "gradus-workbench-"));
  cleanup.add(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  writeSettings(home, options);
  const opened =
    options.open === undefined
      ? undefined
      : options.inPlace === true
        ? resolve(options.open)
        : copyOf(options.open, home);
  const places = [
    "--user-data-dir",
    home,
    "--server-data-dir",
    join(home, "server"),
    "--extensions-dir",
    join(home, "extensions"),
  ];
  const env = { ...process.env, ...options.env };
  if (options.vsix !== undefined)
    await installVsix(installed, options.vsix, [...places, "--accept-server-license-terms"], env);
  const port = await freePort();
  const server = new Server(
    installed,
    [
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--without-connection-token",
      "--accept-server-license-terms",
      ...places,
    ],
    env,
  );
  cleanup.add(() => server.stop());
  // An interrupted test must not leave a server.
  const kill = (): void => server.signal("SIGKILL");
  process.once("exit", kill);
  cleanup.add(() => process.removeListener("exit", kill));
  await server.ready();
  const browser = await launchBrowser();
  cleanup.add(() => browser.close());
  return { server, browser, url: addressOf(port, opened, options), opened };
}

/**
 * Opens a workbench. `prepare` gets the page before it is loaded. Stop it in an `after` hook.
 * @throws Error when the server does not start; nothing is left running then.
 */
export async function startWorkbench(
  options: WorkbenchOptions = {},
  prepare?: (page: Page) => Promise<void>,
): Promise<Workbench> {
  const cleanup = new Cleanup();
  try {
    const { server, browser, url, opened } = await start(options, cleanup);
    const context = await browser.newContext({
      viewport: options.viewport ?? { width: 1280, height: 800 },
      reducedMotion: options.reducedMotion === true ? "reduce" : "no-preference",
    });
    context.setDefaultTimeout(patience);
    const pageErrors: string[] = [];
    const watch = (page: Page): void => {
      page.on("pageerror", (error) => pageErrors.push(error.stack ?? error.message));
      page.on("crash", () => pageErrors.push("the page crashed"));
    };
    const page = await context.newPage();
    watch(page);
    await prepare?.(page);
    await page.goto(url);
    const newWindow = async (): Promise<Page> => {
      const other = await context.newPage();
      watch(other);
      await other.goto(url);
      return other;
    };
    const screenshot = async (name: string, of = page): Promise<string> => {
      mkdirSync("out/screenshots", { recursive: true });
      const path = join("out", "screenshots", `${name}.png`);
      await of.screenshot({ path });
      return path;
    };
    return {
      url,
      folder: opened,
      page,
      context,
      log: () => server.output,
      pageErrors,
      newWindow,
      screenshot,
      stop: () => cleanup.run(),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** Runs a command by its title through the command palette. */
export async function runCommand(page: Page, title: string): Promise<void> {
  const row = page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first();
  // A palette that was opened while extensions were still being read never learns of their commands.
  await until(async () => {
    if (await row.isVisible()) return true;
    await page.keyboard.press("Escape");
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input").first().fill(`>${title}`);
    return row.waitFor({ timeout: 6_000 }).then(
      () => true,
      () => false,
    );
  }, `the command ${title}`);
  await row.click();
}

/** The content of the webview that is shown. */
export const webviewOf = (page: Page) =>
  page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
