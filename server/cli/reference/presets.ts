/** The page of presets: a published method as a choice of options, as the preset's own header has it. */
import { basename } from "node:path";
import { listPresets, type Preset } from "../../config/presets.ts";
import { code, page, prose, table } from "./markdown.ts";

export function presetsPage(): string {
  const presets = listPresets();
  return page([
    "# Presets",
    "`extends: <preset>` in a config takes over a preset's choices. `gradus presets` prints this list, `gradus papers TEXT` finds presets by paper, and `gradus resolve FILE` prints what a config resolves to. `exact`: the source's formulas, confirmed; `approximate`: with the reason below; `piece`: a part of a method that runs by itself.",
    table(
      ["preset", "title", "kind", "status", "chooses in", "extends"],
      presets.map(({ id, title, kind, status, slots, extends: parent }) => [
        toSection(id),
        title,
        kind,
        status,
        slots.length === 0 ? "the defaults" : slots.map(code).join(", "),
        parent === null ? "" : toSection(basename(parent, ".yaml")),
      ]),
    ),
    ...presets.flatMap(section),
  ]);
}

/** Anchors of headings have no dots (`kimi-k1.5`). */
const toSection = (id: string): string => `[${id}](#${id.replaceAll(".", "")})`;

const section = ({ id, title, follows, status, papers }: Preset): (string | undefined)[] => [
  `## ${id}`,
  `${prose(title)} (${status}).${papers.length < 2 ? "" : ` Papers: ${prose(papers.join("; "))}.`}`,
  prose(follows.trim()),
  `[presets/${id}.yaml](../../presets/${id}.yaml)`,
];
