/** The list of papers, and how a person picks from it. */

/** What `gradus papers --json` lists. */
export interface Paper {
  readonly title: string;
  readonly arxiv?: string;
  readonly presets: readonly string[];
  readonly commands: readonly string[];
  /** How faithful the best of it is; `none`: there is nothing of it. */
  readonly status: "exact" | "approximate" | "piece" | "none";
  /** Which version its presets follow, a line each where there are several; else what is missing. */
  readonly follows?: string;
  /** `later`: it was added to the first list, and is counted apart. */
  readonly list?: "later";
}

export interface PaperRow {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly paper: Paper;
}

/** Papers that something serves first, each part by title; all of a row's words are searched. */
export function rowsOf(papers: readonly Paper[]): PaperRow[] {
  const rows = papers.map((paper) => ({
    label: paper.title,
    description: paper.arxiv === undefined ? "" : `arXiv ${paper.arxiv}`,
    detail: detailOf(paper),
    paper,
  }));
  return rows.toSorted((a, b) => Number(isUnserved(a.paper)) - Number(isUnserved(b.paper)));
}

const isUnserved = ({ presets, commands }: Paper): boolean => presets.length + commands.length === 0;

/** What serves it, then what that follows or where it differs. */
function detailOf({ presets, commands, status, follows }: Paper): string {
  if (presets.length + commands.length === 0) return "Gradus has nothing of it yet";
  const served = presets.length > 0 ? presets.join(", ") : commands.join(" · ");
  const sure = presets.length > 0 && status === "exact" ? "" : ` (${status})`;
  const said = follows?.replaceAll(/\s+/g, " ").trim() ?? "";
  return `${served}${sure}${said === "" ? "" : ` — ${said}`}`;
}

/** Of a paper that no preset serves: the slot whose page says what there is of it. */
export const slotOfPaper = ({ presets, commands }: Paper): string | undefined =>
  presets.length > 0
    ? undefined
    : commands.flatMap((command) => /^gradus methods (\w+)$/.exec(command)?.[1] ?? [])[0];
