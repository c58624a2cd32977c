/** What the curriculum of a config would draw over its steps: as blocks above the block, as a picture in its hover. */
import type { CodeLens } from "vscode-languageserver";
import { condensed } from "../../../shared/lib/condensed.ts";
import { blocksOf } from "../../../shared/rollouts/rescoreText.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Range } from "../../lib/lines.ts";
import { entry } from "../../config/text/node.ts";
import { bands, forecast, forecastNow, type Forecast } from "../../analysis/simulate/forecast.ts";
import { forecastPicture } from "../../analysis/simulate/forecastPicture.ts";
import type { OpenConfig } from "../documents.ts";

const blocks = 12;

/** The `curriculum` key of the file itself, and the first stage that follows it. */
function written({ root, whole }: OpenConfig): { key: Range; stage: StageConfig; seed: number } | undefined {
  const key = entry(root, "curriculum")?.key.range;
  if (key === undefined) return undefined;
  // Neither its model nor its reward need be there.
  return whole.ask(({ stages, seed }) => {
    const stage = stages.find(({ kind }) => kind === "rl");
    if (stage === undefined) return undefined;
    // It reads all that a forecast rests on: values that cannot be read end it here.
    forecastNow(stage.body, stage.steps, seed);
    return { key, stage, seed };
  });
}

async function predicted(open: OpenConfig): Promise<{ key: Range; forecast: Forecast } | undefined> {
  const found = written(open);
  if (found === undefined) return undefined;
  const { key, stage, seed } = found;
  const steps = await forecast(stage.body, stage.steps, seed, open.file);
  return steps === undefined || steps.length < 2 ? undefined : { key, forecast: steps };
}

/**
 * `Expected mix: easy ▇▅▂▁ · middling ▂▄▅▅ · hard ▁▁▃▇`. What is not known yet is not waited for.
 * @param later called when it is known
 */
export function forecastLenses(open: OpenConfig, later: () => void): CodeLens[] {
  const wanted = written(open);
  const steps = wanted && forecastNow(wanted.stage.body, wanted.stage.steps, wanted.seed);
  if (wanted === undefined) return [];
  if (steps === undefined) {
    void predicted(open).then((found) => {
      if (found !== undefined) later();
    });
    return [];
  }
  const parts = bands.map(
    (band, i) =>
      `${band} ${blocksOf(
        condensed(
          steps.map((shares) => shares[i]!),
          blocks,
        ),
      )}`,
  );
  const { line } = wanted.key.start;
  return [
    {
      range: { start: { line, character: 0 }, end: { line, character: 0 } },
      command: { title: `Expected mix: ${parts.join(" · ")}`, command: "" },
    },
  ];
}

/** Markdown for the hover of the key. */
export async function forecastHover(
  open: OpenConfig,
  { line, character }: { readonly line: number; readonly character: number },
): Promise<string | undefined> {
  const key = written(open)?.key;
  if (key?.start.line !== line || character < key.start.character || character > key.end.character)
    return undefined;
  const found = await predicted(open);
  if (found === undefined) return undefined;
  const picture = Buffer.from(forecastPicture(found.forecast)).toString("base64");
  return [
    "**Expected mix of tasks over the steps**, drawn for a simulated learner on levels of increasing difficulty.",
    `![easy, medium and hard tasks over the steps](data:image/svg+xml;base64,${picture})`,
    "`gradus curriculum FILE --simulate` compares it with uniform sampling.",
  ].join("\n\n");
}
