/** Chromium for the tests that draw: the same browser for webviews, the workbench and the screenshots. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** $CHROMIUM, else the first on PATH; undefined: the tests that need one say that they are skipped. */
export function findBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}

/** For the `skip` option of a test: false where a browser exists, else the reason. */
export const withoutBrowser = (): string | false =>
  findBrowser() === undefined ? "no Chromium: install one or name it with $CHROMIUM" : false;

/** A headless browser that asks nothing of the network. Close it in an `after` hook. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error("no Chromium: install one or name it with $CHROMIUM");
  const quiet = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
  ];
  // A sandbox needs user namespaces, which root in a container does not get.
  return chromium.launch({
    executablePath,
    args: [
      ...quiet,
      "--disable-gpu",
      "--disable-dev-shm-usage",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
}
