/** Everything that is computed from a config and shown at the end of its lines. */
import type { InlayHint } from "vscode-languageserver";
import type { OpenConfig } from "../documents.ts";
import type { Evidence } from "../evidence.ts";
import { steady } from "../moved.ts";
import { toInlayHint } from "./hint.ts";
import { memoryHint } from "./memory.ts";
import { rolloutHints } from "./rollouts.ts";
import { scheduleHints } from "./schedules.ts";
import { scopesOf } from "./scopes.ts";
import { timeHints } from "./time.ts";

/** Of a text that is broken, those of what has not changed since it last was not. */
export async function hintsOf(open: OpenConfig, evidence: Evidence | undefined): Promise<InlayHint[]> {
  const last = steady(open);
  return (await hintsIn(last.open, evidence)).flatMap((hint) => {
    const position = last.position(hint.position);
    return position === undefined ? [] : [{ ...hint, position }];
  });
}

/** Where a value cannot be read, none of what would follow from it. */
async function hintsIn(open: OpenConfig, evidence: Evidence | undefined): Promise<InlayHint[]> {
  const { loaded, root } = open;
  const scopes = loaded.ask((config) => scopesOf(root, config));
  if (scopes === undefined || root === undefined) return [];
  const last = evidence?.lastRun?.(open.file);
  const found = [
    ...scopes.flatMap((scope) => rolloutHints.map((make) => loaded.ask(() => make(scope, last)))),
    loaded.ask((config) => scheduleHints(root, config, last)),
    loaded.ask((config) => timeHints(scopes, config, last)),
  ];
  const lines = open.text.split(/\r?\n/);
  const hints = found.flatMap((made) => made ?? []);
  return [...(await memoryHint(open)), ...hints.map((hint) => toInlayHint(hint, lines))];
}
