/** A run's log as a read-only document: its events, then what its process wrote. */
import { progressText } from "../../../shared/run/origin.ts";
import { EventEmitter, FileType, Uri, workspace, type TextDocumentContentProvider } from "vscode";
import { formatSeconds } from "../../../shared/lib/format.ts";
import { millisecondsOf } from "../../../shared/log/recordTime.ts";
import { eventsQuery, runsShow, type EventRow, type RunDetail } from "../../../shared/protocol/protocol.ts";
import type { Stores } from "../connection/stores.ts";

const mostBytes = 512 * 1024;

export class RunLog implements TextDocumentContentProvider {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;

  constructor(private readonly stores: Stores) {}

  /** Open logs of these runs are read again. */
  refresh(runs: ReadonlySet<string>): void {
    for (const { uri } of workspace.textDocuments)
      if (uri.scheme === "gradus-log" && runs.has(runOf(uri))) this.#changed.fire(uri);
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const run = runOf(uri);
    const session = await this.stores.connected(this.stores.ofRun(run));
    const [detail, { events }] = await Promise.all([
      session.ask(runsShow, { run }),
      session.ask(eventsQuery, { run }),
    ]);
    return logText(detail, events, await processOutput(detail.folder));
  }
}

const runOf = (uri: Uri): string => uri.path.split("/")[1] ?? "";

function logText(detail: RunDetail, events: readonly EventRow[], output: readonly string[]): string {
  const took =
    detail.endedAt === null
      ? ""
      : ` in ${formatSeconds((Date.parse(detail.endedAt) - Date.parse(detail.startedAt)) / 1000)}`;
  const head = [
    `${detail.name} (${detail.id}): ${detail.status}${took}, ${progressText(detail)}`,
    ...(detail.message === null || detail.message === "" ? [] : [detail.message]),
    `config ${detail.file}`,
    `stored in ${detail.folder}`,
    ...(detail.backend === null
      ? []
      : [`computed on ${detail.backend}${detail.backendReason === null ? "" : `: ${detail.backendReason}`}`]),
  ];
  const lines = events.map(eventLine);
  return [...head, "", ...(lines.length === 0 ? ["No events."] : lines), ...output].join("\n") + "\n";
}

function eventLine({ time, severity, step, message, action }: EventRow): string {
  const moment = new Date(millisecondsOf(time)).toISOString();
  return `${moment} [${severity}] step ${step}: ${message}${action === null ? "" : ` ${action}`}`;
}

/** The end of each text file that the run's process wrote next to its record. */
async function processOutput(folder: string): Promise<readonly string[]> {
  const root = Uri.file(folder);
  const entries = await workspace.fs.readDirectory(root);
  const names = entries
    .filter(([name, type]) => type === FileType.File && name.endsWith(".log"))
    .map(([name]) => name);
  const parts = names.sort().map(async (name) => {
    const bytes = await workspace.fs.readFile(Uri.joinPath(root, name));
    const text = new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - mostBytes))).trimEnd();
    return text === "" ? [] : ["", `── ${name}`, text];
  });
  return (await Promise.all(parts)).flat();
}
