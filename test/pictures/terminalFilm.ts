/** What a person sees in a terminal of 80 × 24 who asks why a reward is flat, as a picture that moves. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { launchBrowser } from "../support/browser.ts";
import { writeFlatStory } from "../support/flatStory.ts";
import { animatedPng, decodePng } from "./palettePng.ts";

const size = { width: 860, height: 490 };
const style = `
  body { margin: 0; background: #1e1e1e; color: #cccccc; font: 15px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
  pre { margin: 0; padding: 18px 22px; white-space: pre-wrap; font: inherit; }
  .prompt { color: #6a9955; } .place { color: #569cd6; } .last { color: #dcdcaa; }`;

const escaped = (text: string): string =>
  text.replace(/[&<]/g, (character) => (character === "&" ? "&amp;" : "&lt;"));
const prompt = (typed: string): string => `<span class="prompt">$</span> ${escaped(typed)}`;

/** A line of findings with its place marked; the sum is the last. */
function coloured(line: string, isLast: boolean): string {
  if (isLast) return `<span class="last">${escaped(line)}</span>`;
  const [, place = "", rest = ""] = /^(\S.*?\S)(\s{2,}.*)$/.exec(line) ?? [];
  return place === "" ? escaped(line) : `<span class="place">${escaped(place)}</span>${escaped(rest)}`;
}

interface Shown {
  readonly html: string;
  readonly seconds: number;
}

function played(folder: string): readonly Shown[] {
  const words = [resolve("dist", "cli.mjs"), "check", "--run"];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
  if (status !== 1) throw new Error(`gradus check ended with ${status}`);
  const notes = stderr.trimEnd().split("\n");
  const said = [...stdout.trimEnd().split("\n"), ...notes];
  const sum = said.length - notes.length - 1;
  const question = "gradus check --run        # why is my GRPO reward flat?";
  const listing = [prompt("ls"), "nb.ipynb  rewards  run.sh  slurm-123.out  swift"];
  const typed = [6, 18, question.length].map((to) => ({
    html: [...listing, prompt(question.slice(0, to))].join("\n"),
    seconds: to === question.length ? 1.2 : 0.3,
  }));
  const answers = said.map((_, count) => ({
    html: [
      ...listing,
      prompt(question),
      ...said.slice(0, count + 1).map((line, at) => (at <= sum ? coloured(line, at === sum) : escaped(line))),
    ].join("\n"),
    seconds: count === said.length - 1 ? 8 : 2.5,
  }));
  return [{ html: listing.join("\n"), seconds: 1.5 }, ...typed, ...answers];
}

/** Writes the film to a file. @returns its bytes */
export async function terminalFilm(file: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-film-"));
  const browser = await launchBrowser();
  try {
    writeFlatStory(folder);
    const page = await browser.newPage({ viewport: size, deviceScaleFactor: 1 });
    const shown = played(folder);
    const frames = [];
    for (const { html } of shown) {
      await page.setContent(`<style>${style}</style><pre>${html}</pre>`);
      frames.push(decodePng(await page.screenshot()));
    }
    const film = animatedPng(
      frames,
      shown.map(({ seconds }) => seconds),
    );
    writeFileSync(file, film);
    return film.length;
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
