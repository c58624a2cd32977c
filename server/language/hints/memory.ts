/** What a run of the config would need of the memory, after the line that chooses the model. */
import { InlayHintKind, MarkupKind, type InlayHint } from "vscode-languageserver";
import { UserError } from "../../../shared/lib/errors.ts";
import { entry } from "../../config/text/node.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { OpenConfig } from "../documents.ts";

/** None where what decides it or the model cannot be read: other messages say so. */
export async function memoryHint({ loaded, text }: OpenConfig): Promise<InlayHint[]> {
  const predicted = await predictor();
  const said = loaded.ask(predicted);
  if (said === undefined) return [];
  const line = entry(loaded.source, "model")?.key.range.start.line ?? 0;
  const end = (text.split("\n")[line] ?? "").trimEnd().length;
  return [
    {
      position: { line, character: end },
      label: said.label,
      kind: InlayHintKind.Type,
      paddingLeft: true,
      tooltip: { kind: MarkupKind.Markdown, value: said.tooltip },
    },
  ];
}

interface Predicted {
  readonly label: string;
  readonly tooltip: string;
}

/** Loaded when first asked for: reading models is nothing that every editor session needs. */
async function predictor(): Promise<(config: RunConfig) => Predicted | undefined> {
  const [{ arithmetic, planMemory }, { sizeText }] = await Promise.all([
    import("../../analysis/memory/estimate.ts"),
    import("../../analysis/memory/note.ts"),
  ]);
  return (config) => {
    try {
      const { peak, limit, prediction, fits, budget } = planMemory(config);
      const bound = `${sizeText(limit.bytes)} (${limit.because})`;
      return {
        label: fits
          ? `about ${sizeText(peak)} of memory`
          : `about ${sizeText(peak)} of memory: more than ${sizeText(limit.bytes)}`,
        tooltip: `Predicted peak memory of a run: ${arithmetic(prediction)}.\n\nThe run may use ${bound}. Micro-batches have at most ${budget.micro_tokens} tokens.`,
      };
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  };
}
