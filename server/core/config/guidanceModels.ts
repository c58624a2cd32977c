/** The models that guidance and start states name, with where the config names them. */
import type { StageBody } from "./resolved.ts";

interface NamedModel {
  readonly model: string;
  /** In the stage's body. */
  readonly path: readonly string[];
}

function namedIn(params: Readonly<Record<string, unknown>>, path: readonly string[]): NamedModel[] {
  const { model, models } = params;
  const many: readonly unknown[] = Array.isArray(models) ? models : [];
  return [
    ...(typeof model === "string" ? [{ model, path: [...path, "model"] }] : []),
    ...many.flatMap((one, i) =>
      typeof one === "string" ? [{ model: one, path: [...path, "models", String(i)] }] : [],
    ),
  ];
}

export const guidanceModels = ({ guidance, curriculum }: StageBody): NamedModel[] => [
  ...(guidance.trigger.declaration.name === "none"
    ? []
    : namedIn(guidance.source.params, ["guidance", "source"])),
  ...namedIn(curriculum.start.params, ["curriculum", "start"]),
];
