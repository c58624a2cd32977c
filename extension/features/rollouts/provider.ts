/** Rollouts of a step as a read-only document: content, folding, outline, colour, and lenses to the steps around it. */
import {
  CodeLens,
  DocumentSymbol,
  EventEmitter,
  FoldingRange,
  Range,
  SymbolKind,
  TabInputWebview,
  ThemeColor,
  Uri,
  ViewColumn,
  languages,
  window,
  workspace,
  type Disposable,
  type TextDocument,
  type TextDocumentContentProvider,
  type TextEditor,
} from "vscode";
import { commands, schemes } from "../../../shared/editor/contributions.ts";
import { groupsQuery, rolloutsQuery, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import { pickRun } from "../runs/pick.ts";
import { rolloutDocument, type Heading, type Mark, type RolloutDocument } from "./document.ts";

/** More than this in one step is for the command line. */
const most = 2_000;

interface DocumentAddress {
  readonly run: string;
  readonly step: number;
  /** A condition that the rollouts satisfy; empty: all of the step. */
  readonly where: string;
}

/** `gradus-rollouts:/<run>/<step>/<name> · step 12`: the last part is the tab's title; a condition is the query. */
const rolloutsUri = (run: RunSummary, step: number, where = ""): Uri =>
  Uri.from({
    scheme: schemes.rollouts,
    query: where,
    path: `/${run.id}/${step}/${run.name.replaceAll("/", "-")} · step ${step}`,
  });

/** Not over the panel that a click came from: chart and rollouts are read side by side. */
function columnBesidePanel(): ViewColumn {
  const { all, activeTabGroup } = window.tabGroups;
  if (!(activeTabGroup.activeTab?.input instanceof TabInputWebview)) return ViewColumn.Active;
  return all.find((group) => group !== activeTabGroup)?.viewColumn ?? ViewColumn.Beside;
}

function placeOf(uri: Uri): DocumentAddress {
  const [, run = "", step = ""] = uri.path.split("/");
  return { run, step: Number(step), where: uri.query };
}

export class Rollouts implements TextDocumentContentProvider, Disposable {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #documents = new Map<string, RolloutDocument>();
  readonly #styles = {
    positive: window.createTextEditorDecorationType({ color: new ThemeColor("charts.green") }),
    negative: window.createTextEditorDecorationType({ color: new ThemeColor("charts.red") }),
    // The light themes' own orange cannot be read on white.
    error: window.createTextEditorDecorationType({
      color: new ThemeColor("charts.orange"),
      light: { color: "#9a5b00" },
    }),
    given: window.createTextEditorDecorationType({
      color: new ThemeColor("descriptionForeground"),
      fontStyle: "italic",
    }),
  } as const;
  readonly #disposables: Disposable[];

  constructor(private readonly stores: Stores) {
    const selector = { scheme: schemes.rollouts };
    this.#disposables = [
      workspace.registerTextDocumentContentProvider(schemes.rollouts, this),
      languages.registerFoldingRangeProvider(selector, {
        provideFoldingRanges: (document) => this.#folds(document),
      }),
      languages.registerDocumentSymbolProvider(selector, {
        provideDocumentSymbols: (document) => this.#symbols(document),
      }),
      languages.registerCodeLensProvider(selector, {
        provideCodeLenses: (document) => this.#lenses(document),
      }),
      window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.#paint(editor))),
      workspace.onDidChangeTextDocument(({ document }) =>
        window.visibleTextEditors
          .filter((editor) => editor.document === document)
          .forEach((editor) => this.#paint(editor)),
      ),
      workspace.onDidCloseTextDocument((document) => this.#documents.delete(document.uri.toString())),
      register("rolloutsOpen", (run, step, where) => this.#open(run, step, where)),
      ...Object.values(this.#styles),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const { run, step, where } = placeOf(uri);
    const store = this.stores.ofRun(run) ?? this.stores.all[0];
    const session = await this.stores.connected(store);
    const [{ groups }, { rollouts, total }] = await Promise.all([
      session.ask(groupsQuery, { run, step }),
      session.ask(rolloutsQuery, { run, step, limit: most, ...(where === "" ? {} : { where }) }),
    ]);
    const name = store?.runs.find(run)?.name ?? run;
    const document = rolloutDocument({ name, step, groups, rollouts, total, where });
    this.#documents.set(uri.toString(), document);
    return document.text;
  }

  /** The step that was asked for; without one, the run's last. */
  async #open(word: unknown, step: unknown, where: unknown): Promise<void> {
    const run = await pickRun(this.stores, word, "Open Rollouts");
    if (run === undefined) return;
    const node = typeof word === "object" && word !== null && "step" in word ? word.step : undefined;
    const wanted = typeof step === "number" ? step : typeof node === "number" ? node : Math.max(0, run.step);
    await window.showTextDocument(rolloutsUri(run, wanted, typeof where === "string" ? where : ""), {
      preview: true,
      viewColumn: columnBesidePanel(),
    });
  }

  #of(document: TextDocument): RolloutDocument | undefined {
    return this.#documents.get(document.uri.toString());
  }

  #folds(document: TextDocument): FoldingRange[] {
    return (this.#of(document)?.folds ?? []).map(({ from, to }) => new FoldingRange(from, to));
  }

  #symbols(document: TextDocument): DocumentSymbol[] {
    const symbol = ({ line, end, name, detail, children }: Heading, kind: SymbolKind): DocumentSymbol => {
      const whole = new Range(
        line,
        0,
        end,
        document.lineAt(Math.min(end, document.lineCount - 1)).text.length,
      );
      const made = new DocumentSymbol(name, detail, kind, whole, document.lineAt(line).range);
      made.children = children.map((child) => symbol(child, SymbolKind.String));
      return made;
    };
    return (this.#of(document)?.headings ?? []).map((heading) => symbol(heading, SymbolKind.Array));
  }

  #lenses(document: TextDocument): CodeLens[] {
    const { run, step, where } = placeOf(document.uri);
    const last = this.stores.ofRun(run)?.runs.find(run)?.step ?? step;
    const top = new Range(0, 0, 0, 0);
    const to = (title: string, target: number, condition = where): CodeLens =>
      new CodeLens(top, { title, command: commands.rolloutsOpen, arguments: [run, target, condition] });
    return [
      ...(where === "" ? [] : [to("All of the Step", step, "")]),
      ...(step > 0 ? [to(`$(arrow-left) Step ${step - 1}`, step - 1)] : []),
      ...(step < last ? [to(`Step ${step + 1} $(arrow-right)`, step + 1)] : []),
      new CodeLens(top, { title: "$(graph-line) Open Run", command: commands.runOpen, arguments: [run] }),
    ];
  }

  #paint(editor: TextEditor): void {
    const document = editor.document.uri.scheme === schemes.rollouts ? this.#of(editor.document) : undefined;
    if (document === undefined) return;
    const ranges = (sign: Mark["sign"]): Range[] =>
      document.marks
        .filter((mark) => mark.sign === sign)
        .map((mark) => new Range(mark.line, mark.from, mark.line, mark.to));
    for (const sign of ["positive", "negative", "error", "given"] as const)
      editor.setDecorations(this.#styles[sign], ranges(sign));
  }
}
