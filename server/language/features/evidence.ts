/** What runs have shown: notes at the ends of lines, the way to the rollouts, and the settings that say how much of it. */
import {
  CodeActionKind,
  CodeLensRefreshRequest,
  DidChangeConfigurationNotification,
  InlayHintRefreshRequest,
  MarkupKind,
  type CodeAction,
  type InlayHint,
} from "vscode-languageserver";
import { z } from "zod";
import { commands } from "../../../shared/editor/contributions.ts";
import type { Range } from "../../lib/lines.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { startOfFile } from "../../config/text/node.ts";
import type { OpenConfig } from "../documents.ts";
import { steady } from "../moved.ts";
import type { EvidenceDiagnostic } from "../../analysis/evidence/types.ts";
import { usualEvidence, type Evidence } from "../evidence.ts";
import type { Feature, LanguageContext } from "../feature.ts";

const section = "gradus.evidence";
const settingsSchema = z
  .object({
    enabled: z.boolean().catch(usualEvidence.enabled),
    window: z.number().int().positive().catch(usualEvidence.window),
  })
  .catch(usualEvidence);

export const evidence: Feature = {
  capabilities: () => ({}),
  provide: (context) => {
    context.onReady(() => void followSettings(context));
    context.onEvidence(() => void refresh(context));
  },
};

/** Asks the editor for its settings, now and whenever they change; one without settings keeps the usual ones. */
async function followSettings({ connection, evidence, editor }: LanguageContext): Promise<void> {
  const { workspace } = editor().client;
  if (evidence?.configure === undefined || workspace?.configuration !== true) return;
  const read = async (): Promise<void> => {
    try {
      evidence.configure?.(settingsSchema.parse(await connection.workspace.getConfiguration(section)));
    } catch (error) {
      connection.console.warn(`${section}: ${String(error)}`);
    }
  };
  connection.onDidChangeConfiguration(() => void read());
  if (workspace.didChangeConfiguration?.dynamicRegistration === true)
    await connection.client.register(DidChangeConfigurationNotification.type, { section });
  await read();
}

/** The editor asks for hints and lenses when a text changes, not when a run does. */
export async function refresh({ connection, editor }: LanguageContext): Promise<void> {
  const { workspace } = editor().client;
  try {
    if (workspace?.inlayHint?.refreshSupport === true)
      await connection.sendRequest(InlayHintRefreshRequest.type);
    if (workspace?.codeLens?.refreshSupport === true)
      await connection.sendRequest(CodeLensRefreshRequest.type);
  } catch (error) {
    connection.console.log(`refresh: ${String(error)}`);
  }
}

/** What a run has shown, where it is now. @param links whether the editor can open rollouts */
export function evidenceDiagnostics(
  evidence: Evidence | undefined,
  config: OpenConfig,
  links: boolean,
): EvidenceDiagnostic[] {
  const { open, range } = steady(config);
  return (evidence?.diagnostics?.(open) ?? []).flatMap((diagnostic) => {
    const now = range(diagnostic.range);
    if (now === undefined) return [];
    return { ...(links ? withRollouts(diagnostic) : diagnostic), range: now };
  });
}

function withRollouts(diagnostic: EvidenceDiagnostic): EvidenceDiagnostic {
  const { rollouts } = diagnostic;
  if (rollouts === undefined) return diagnostic;
  const message = `Rollouts of step ${rollouts.step}`;
  const link = { file: "", uri: rolloutsUri(rollouts), range: startOfFile, message };
  return { ...diagnostic, related: [...(diagnostic.related ?? []), link] };
}

export function evidenceHints(evidence: Evidence | undefined, open: OpenConfig): InlayHint[] {
  const last = steady(open);
  return (evidence?.notes?.(last.open) ?? []).flatMap(({ at, label, detail }): InlayHint[] => {
    const position = last.position(at);
    const tooltip = { kind: MarkupKind.Markdown, value: detail };
    return position === undefined ? [] : [{ position, label, paddingLeft: true, tooltip }];
  });
}

const isEvidence = (diagnostic: Diagnostic): diagnostic is EvidenceDiagnostic => "rollouts" in diagnostic;
const touches = (a: Range, b: Range): boolean => a.start.line <= b.end.line && b.start.line <= a.end.line;

/** "Show these rollouts", for editors that have our commands. */
export function evidenceActions(
  { editor }: LanguageContext,
  diagnostics: readonly Diagnostic[],
  range: Range,
  only: readonly string[] | undefined,
): CodeAction[] {
  const wanted = only === undefined || only.some((kind) => CodeActionKind.QuickFix.startsWith(kind));
  if (!editor().lenses || !wanted) return [];
  return diagnostics.filter(isEvidence).flatMap(({ rollouts, range: own }): CodeAction[] => {
    if (rollouts === undefined || !touches(own, range)) return [];
    const { run, step, where } = rollouts;
    const title = `Show these rollouts of step ${step}`;
    return [
      {
        title,
        kind: CodeActionKind.QuickFix,
        command: { title, command: commands.rolloutsOpen, arguments: [run, step, where] },
      },
    ];
  });
}

/** Where the extension's rollout documents lie; an editor without it has none. */
const rolloutsUri = ({ run, name, step, where }: NonNullable<EvidenceDiagnostic["rollouts"]>): string => {
  const path = [run, String(step), `${name.replaceAll("/", "-")} · step ${step}`].map(encodeURIComponent);
  const query = where === undefined ? "" : `?${encodeURIComponent(where)}`;
  return `gradus-rollouts:/${path.join("/")}${query}`;
};
