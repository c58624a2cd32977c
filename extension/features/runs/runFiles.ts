/** What a run kept, as read-only documents: its config as written and as resolved, and the texts of its reward files. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Uri, type TextDocumentContentProvider } from "vscode";
import { schemes } from "../../../shared/editor/contributions.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { runsShow } from "../../../shared/protocol/protocol.ts";
import { readKeptText } from "../../../shared/run/sources.ts";
import type { Stores } from "../connection/stores.ts";

type Part = "config" | "resolved" | "source";
const uriOf = (run: string, part: Part, ...rest: readonly string[]): Uri =>
  Uri.from({ scheme: schemes.runFiles, path: `/${[run, part, ...rest].join("/")}` });

/** As its author wrote it when the run began. */
export const configUri = (run: string, name: string): Uri => uriOf(run, "config", `${name}.gradus.yaml`);
/** After presets, `--set` and defaults; keys in the order of the alphabet, so that two can be compared. */
export const resolvedUri = (run: string, name: string): Uri => uriOf(run, "resolved", `${name}.json`);
/** @param kept the copy's name in the run's folder */
export const sourceUri = (run: string, kept: string, path: string): Uri =>
  uriOf(run, "source", kept, path.split("/").at(-1) ?? path);

export class RunFiles implements TextDocumentContentProvider {
  constructor(private readonly stores: Stores) {}

  async provideTextDocumentContent({ path }: Uri): Promise<string> {
    const [, run = "", part, kept = ""] = path.split("/");
    const session = await this.stores.connected(this.stores.ofRun(run));
    const detail = await session.ask(runsShow, { run });
    if (part === "source") return readKeptText(detail.folder, { kept }) ?? "";
    if (part === "resolved") return `${JSON.stringify(sorted(detail.config), null, 2)}\n`;
    // The folder has it before the store has read the run's log.
    return readFile(join(detail.folder, "authored.gradus.yaml"), "utf8").catch(() => detail.authored);
  }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([key, own]) => [key, sorted(own)]),
  );
}
