/** A panel in a real browser: the page and the policy that the host serves, a stub of the editor's side, any theme. */
import { build } from "esbuild";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { contentSecurityPolicy, page as html } from "../../extension/vscode/html.ts";
import type { ToCompare } from "../../shared/editor/comparePanel.ts";
import type { ToJudge } from "../../shared/editor/judgePanel.ts";
import type { FromPanel, ToPanel } from "../../shared/editor/runPanel.ts";
import { launchBrowser, withoutBrowser } from "../support/browser.ts";
import { patience } from "../support/until.ts";
import { themes, type ThemeFixture } from "./themes.ts";

export const screenshots = join("out", "screenshots");
const nonce = "dGVzdC1ub25jZQ";

/** For `test(name, { skip }, …)`: why the tier cannot run, or false. */
export const skip = withoutBrowser();

/** Stands for the editor: keeps what the panel posts and the state it leaves. Runs in the page, before the panel. */
const stub = `
  window.posted = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => window.posted.push(JSON.parse(JSON.stringify(message))),
    getState: () => JSON.parse(sessionStorage.getItem("state") ?? "null") ?? undefined,
    setState: (state) => sessionStorage.setItem("state", JSON.stringify(state)),
  });`;

/** What the stub keeps in the page. */
interface Posted {
  readonly posted: readonly FromPanel[];
}

export interface Rig {
  readonly browser: Browser;
  open(options?: OpenOptions): Promise<Panel>;
  close(): Promise<void>;
}
export interface OpenOptions {
  readonly theme?: ThemeFixture["name"];
  readonly width?: number;
  readonly height?: number;
  readonly scale?: number;
}
export interface Panel {
  readonly page: Page;
  /** What broke the content security policy or threw. */
  readonly faults: readonly string[];
  send(message: ToPanel | ToCompare | ToJudge): Promise<void>;
  posted(): Promise<readonly FromPanel[]>;
  close(): Promise<void>;
}

/** A chart of the run panel, and the part of it that the keyboard moves in. */
export const chart = (panel: Panel, id: string): Locator => panel.page.locator(`[data-chart="${id}"]`);
export const plot = (panel: Panel, id: string): Locator => chart(panel, id).getByRole("slider");

/** What the panel asked its host to do. */
export const acts = async (panel: Panel) =>
  (await panel.posted())
    .filter((message) => message.type === "act")
    .map(({ version: _, type: __, ...rest }) => rest);

async function serve(bundle: string): Promise<{ server: Server; origin: string }> {
  const types: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };
  const server = createServer((request, response) => {
    const name = (request.url ?? "/").split("?")[0]!.slice(1);
    const address = server.address();
    const source = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
    if (name === "") {
      response.setHeader("content-security-policy", contentSecurityPolicy({ nonce, source }));
      response.setHeader("content-type", "text/html");
      response.end(html({ title: "run", nonce, source, script: "/main.js", style: "/main.css" }));
    } else if (name === "main.js" || name === "main.css") {
      response.setHeader("content-type", types[name.split(".")[1]!]!);
      response.end(readFileSync(join(bundle, name)));
    } else {
      response.statusCode = name === "favicon.ico" ? 204 : 404;
      response.end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the test server has no port");
  return { server, origin: `http://127.0.0.1:${address.port}/` };
}

/**
 * @param name of the panel's folder in webviews/
 * @param running a browser that is running; else one is started, and closed with the rig
 */
export async function launch(name: "run" | "compare" | "judge" = "run", running?: Browser): Promise<Rig> {
  const bundle = join("out", name === "run" ? "webview" : `webview-${name}`);
  mkdirSync(screenshots, { recursive: true });
  await build({
    entryPoints: { main: `webviews/${name}/main.ts` },
    outdir: bundle,
    bundle: true,
    minify: true,
    platform: "browser",
    target: "chrome120",
    format: "iife",
    logLevel: "error",
  });
  const { server, origin } = await serve(bundle);
  const browser = running ?? (await launchBrowser());
  const pages = new Pages(browser);
  return {
    browser,
    open: (options = {}) => open(pages, origin, options),
    close: async () => {
      await (running === undefined ? browser.close() : pages.close());
      server.close();
    },
  };
}

/** A page that a panel has left is the next one's: to start one takes longer than most of what is tested in it. */
class Pages {
  private readonly left: Page[] = [];

  constructor(private readonly browser: Browser) {}

  async take({
    width,
    height,
    scale,
  }: Required<Pick<OpenOptions, "width" | "height" | "scale">>): Promise<Page> {
    const viewport = { width, height };
    const page = scale === 1 ? this.left.pop() : undefined;
    if (page === undefined) {
      const fresh = await this.browser.newPage({ viewport, deviceScaleFactor: scale });
      fresh.setDefaultTimeout(patience);
      await fresh.addInitScript(stub);
      await fresh.addInitScript(dressed);
      return fresh;
    }
    await page.evaluate(() => sessionStorage.clear());
    await page.mouse.move(0, 0);
    await page.setViewportSize(viewport);
    return page;
  }

  async giveBack(page: Page, scale: number): Promise<void> {
    page.removeAllListeners("pageerror");
    page.removeAllListeners("console");
    if (scale === 1) this.left.push(page);
    else await page.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.left.map((page) => page.close()));
  }
}

async function open(pages: Pages, origin: string, options: OpenOptions): Promise<Panel> {
  const { theme = "dark", width = 1100, height = 900, scale = 1 } = options;
  const page = await pages.take({ width, height, scale });
  const faults: string[] = [];
  // Said at once too: a test that waits for what a fault has kept away ends before it looks at them.
  const fault = (text: string): void => {
    faults.push(text);
    console.error(`in the panel: ${text}`);
  };
  page.on("pageerror", (error) => fault(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") fault(message.text());
  });
  await page.goto(`${origin}?theme=${theme}`);
  await page.waitForFunction(() =>
    (window as unknown as Posted).posted.some(({ type }: { type: string }) => type === "ready"),
  );
  return {
    page,
    faults,
    send: async (message) => {
      await page.evaluate(deliver, message as object);
      await settle(page);
    },
    posted: () => page.evaluate(() => (window as unknown as Posted).posted),
    close: () => pages.giveBack(page, scale),
  };
}

/** Runs in the page: ends once the panel, whose listener was there before, has handled the message. */
const deliver = (data: object): Promise<void> =>
  new Promise<void>((done) => {
    window.addEventListener("message", () => done(), { once: true });
    window.postMessage(data, "*");
  });

/** Two frames, and what is out of view: a message is handled and drawn. */
export const settle = async (page: Page): Promise<void> => {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
  await page.waitForFunction(() => document.querySelector('.plot[aria-busy="true"]') === null);
};

/** Runs in the page: what the editor does to a webview's document, before its script. */
function dress(theme: ThemeFixture): void {
  const put = (): void => {
    // Of another theme that it wore before.
    for (const name of [...document.documentElement.style])
      if (name.startsWith("--vscode-")) document.documentElement.style.removeProperty(name);
    for (const [name, value] of Object.entries(theme.variables))
      document.documentElement.style.setProperty(`--vscode-${name}`, value);
    document.body.className = theme.bodyClass;
  };
  if (document.body === null) {
    const observer = new MutationObserver(() => {
      if (document.body === null) return;
      observer.disconnect();
      put();
    });
    observer.observe(document, { childList: true, subtree: true });
  } else put();
}

/** The same for the theme that the page's address names. */
const dressed = `(${String(dress)})(${JSON.stringify(themes)}.find(
  ({ name }) => name === new URLSearchParams(location.search).get("theme")))`;

export async function changeTheme(panel: Panel, name: ThemeFixture["name"]): Promise<void> {
  await panel.page.evaluate(
    dress,
    themes.find((theme) => theme.name === name)!,
  );
  await settle(panel.page);
}
