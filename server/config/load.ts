/** Reads a config: `extends`, `--set`, defaults, stages, checks, rules. The editor, the command line and the run all call this. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError, readFailure } from "../../shared/errors.ts";
import type { Json, JsonObject } from "../../shared/json.ts";
import { parseAssignment } from "./address.ts";
import { buildBody, buildRun, buildStage, stemOf } from "./build.ts";
import { Checker } from "./check.ts";
import type { Diagnostic, Range } from "./diagnostic.ts";
import { Extender } from "./extend.ts";
import { foreignKind, type ConfigKind } from "./foreign.ts";
import { grammar, stageItem } from "./grammar.ts";
import { merge, type MergeProblem } from "./merge.ts";
import {
  child,
  mapNode,
  startOfFile,
  withoutEntry,
  type MapNode,
  type Origin,
  type SourceNode,
} from "./node.ts";
import type { CheckedTree } from "./reader.ts";
import { withPolicyModel } from "./policyModel.ts";
import { Collector, unknownName } from "./report.ts";
import type { RunConfig } from "./resolved.ts";
import { checkRules } from "./rules/index.ts";
import type { StageView } from "./rules/rule.ts";
import {
  bodyOf,
  capSteps,
  isObject,
  stageTrees,
  withDefaults,
  writtenJson,
  type StageTree,
} from "./stages.ts";

export interface LoadOptions {
  /** The text to read instead of the file's: an unsaved document. */
  readonly text?: string;
  /** `path=value`, in order. */
  readonly set?: readonly string[];
  /** Caps the total of rl steps; sft stages keep theirs. */
  readonly steps?: number;
  readonly seed?: number;
  /** Where relative paths in `set` start from; default: the config's folder. */
  readonly folder?: string;
  /** The config is only applied to recorded rollouts: it need have no task, no reward, and nothing to train. */
  readonly recorded?: boolean;
}

/** Who wrote a value; `line` counts from 1, and is 0 where no file wrote it. */
export interface ValueOrigin {
  readonly file: string;
  readonly line: number;
  readonly via: readonly string[];
}

export interface LoadedConfig {
  /** undefined when a diagnostic is an error. */
  readonly config: RunConfig | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Whether every value could be read, so that the rules across fields were asked. */
  readonly readable: boolean;
  /** The resolved tree as plain data; holds what could be read when there are errors. */
  readonly tree: JsonObject;
  /** By path as `--set` addresses it: `tasks.countdown.numbers`. */
  readonly origins: Readonly<Record<string, ValueOrigin>>;
  /** Every file that was read, this one first. */
  readonly files: readonly string[];
  /** The merged values with their places, for the editor. */
  readonly root: MapNode;
  /** The file's own values, nothing merged; undefined when it has none. */
  readonly source: SourceNode | undefined;
}

/** Throws UserError when the file cannot be read or a `set` cannot be parsed; everything else is a diagnostic. */
export function loadConfig(file: string, options: LoadOptions = {}): LoadedConfig {
  return new Loader(resolve(file), options).load();
}

class Loader {
  private readonly collector: Collector;
  private readonly extender: Extender;
  private readable = false;

  constructor(
    private readonly file: string,
    private readonly options: LoadOptions,
  ) {
    this.collector = new Collector(file, (origin) => this.shownAt(origin));
    this.extender = new Extender(this.collector.report, (diagnostics, frame) => {
      for (const diagnostic of diagnostics) this.syntax(diagnostic, frame);
    });
  }

  load(): LoadedConfig {
    const text = this.options.text ?? readText(this.file);
    const kind = foreignKind(text);
    const root = this.merged(kind === "gradus" ? text : "");
    if (kind !== "gradus") return this.foreign(root, kind);
    if (this.extender.broken) return this.result(root, {}, new Map(), undefined);
    const full = withDefaults(root);
    const checker = new Checker(this.collector.report);
    const json = this.checkTop(full, checker);
    const stages = stageTrees(full, (problem, stage) =>
      this.mergeProblem({ ...problem, path: problem.path || stage }),
    );
    // Without stages the one there is has the top level's blocks: they have been checked.
    const checked = stages.map((stage) =>
      stage.written === undefined ? undefined : this.checkStage(stage, checker),
    );
    const written = this.stagesJson(stages, checker);
    const tree = this.complete({ ...json, ...(written.length > 0 ? { stages: written } : {}) }, full);
    const top: CheckedTree = { node: full, json: tree, checker };
    this.readable = !this.collector.blocked;
    const config = this.readable ? this.build(top, stages, checked, written) : undefined;
    return this.result(full, tree, checker.origins, config);
  }

  /** Somebody else's config: to call each of its keys unknown would help nobody. */
  private foreign(root: MapNode, kind: Exclude<ConfigKind, "gradus">): LoadedConfig {
    this.collector.report({
      rule: "not-yet",
      message: `This looks like a ${kind} config. This version of Gradus reads only its own; nothing in the file was checked.`,
      key: "",
      at: root.origin,
    });
    return this.result(root, {}, new Map(), undefined);
  }

  /** Everything anybody wrote, without the defaults. */
  private merged(text: string): MapNode {
    let root = this.extender.load(this.file, text);
    const folder = this.options.folder ?? dirname(this.file);
    const assignments = [
      ...(this.options.set ?? []),
      ...(this.options.seed === undefined ? [] : [`seed=${this.options.seed}`]),
    ];
    for (const assignment of assignments) {
      const { path, tree } = parseAssignment(assignment, folder);
      // A setting may address a default: what it merges into has them underneath.
      const next = merge(path.length > 1 ? withDefaults(root) : root, tree, grammar, (problem) =>
        this.mergeProblem(problem),
      );
      if (next.kind === "map") root = next;
    }
    root = withPolicyModel(root, (problem) => this.mergeProblem(problem));
    return this.options.steps === undefined ? root : capSteps(root, this.options.steps);
  }

  private checkTop(full: MapNode, checker: Checker): JsonObject {
    const json = checker.visit(grammar, withoutEntry(full, "stages"), "");
    const stages = child(full, "stages");
    const shape = grammar.fields["stages"]?.shape;
    if (stages !== undefined && stages.kind !== "list" && shape !== undefined)
      checker.visit(shape, stages, "stages");
    return isObject(json) ? json : {};
  }

  /** A stage's blocks: what it inherits has been complained about at the top level already. */
  private checkStage({ name, body }: StageTree, top: Checker): CheckedTree {
    const prefix = `stages.${name}`;
    const checker = new Checker((finding) => {
      if (finding.at.stage !== undefined)
        this.collector.report({ ...finding, key: `${prefix}.${finding.key}` });
    }, top);
    const json = checker.visit({ kind: "map", fields: grammar.fields }, body, "");
    return { node: body, json: isObject(json) ? json : {}, checker };
  }

  /** Each stage as written: its own keys checked, its overrides as they are. */
  private stagesJson(stages: readonly StageTree[], checker: Checker): JsonObject[] {
    return stages.flatMap(({ name, written, kind, steps }) => {
      if (written === undefined) return [];
      const own = bodyOf(written);
      const rest = mapNode(
        written.origin,
        [...written.entries].filter(([key]) => !own.entries.has(key)),
      );
      const json = checker.visit(stageItem, rest, `stages.${name}`);
      const overrides = writtenJson(own);
      return [{ ...(isObject(json) ? json : {}), kind, steps, ...(isObject(overrides) ? overrides : {}) }];
    });
  }

  /** What follows from other values where nobody wrote it. */
  private complete(json: JsonObject, full: MapNode): JsonObject {
    const evaluation = isObject(json["evaluation"]) ? json["evaluation"] : {};
    const passAt = Array.isArray(evaluation["pass_at"])
      ? evaluation["pass_at"].filter((k) => typeof k === "number")
      : [];
    const samples: Json = evaluation["samples"] ?? (passAt.length === 0 ? 1 : Math.max(...passAt));
    const steps = full.entries.has("stages")
      ? {}
      : { steps: json["steps"] ?? stageTrees(full, () => undefined)[0]?.steps ?? 0 };
    return { name: stemOf(this.file), ...json, ...steps, evaluation: { ...evaluation, samples } };
  }

  private build(
    top: CheckedTree,
    stages: readonly StageTree[],
    checked: readonly (CheckedTree | undefined)[],
    written: readonly JsonObject[],
  ): RunConfig | undefined {
    const total = stages.reduce((sum, { kind, steps }) => sum + (kind === "rl" ? steps : 0), 0);
    const topBody = buildBody({ ...top, json: top.json }, total);
    const views = stages.map((stage, index): StageView => {
      const tree = checked[index] ?? top;
      const own = isStageClock(stage, tree) ? stage.steps : total;
      const config = buildStage(
        written[index] ?? { name: stage.name, kind: stage.kind },
        buildBody(tree, own),
        stage.steps,
      );
      return {
        config,
        body: tree.node,
        written: stage.written,
        path: stage.written === undefined ? "" : `stages.${stage.name}`,
      };
    });
    const config = buildRun(
      this.file,
      top,
      topBody,
      views.map(({ config }) => config),
    );
    checkRules(
      {
        config,
        root: top.node,
        stages: views,
        file: this.file,
        capped: this.options.steps !== undefined,
        report: this.collector.report,
      },
      this.options.recorded === true,
    );
    return this.collector.failed ? undefined : config;
  }

  private mergeProblem({ message, entry, path, allowed, name }: MergeProblem): void {
    const { hint, fixes } = unknownName(name, allowed, entry.key);
    this.collector.report({
      rule: "unknown-name",
      message: `${message}. ${hint}`,
      key: path,
      at: entry.key,
      fixes,
    });
  }

  private syntax(
    diagnostic: Diagnostic,
    { main, file, via }: { main: boolean; file: string; via: readonly string[] },
  ): void {
    if (main) this.collector.add(diagnostic);
    else {
      const at: Origin = { file, folder: dirname(file), range: diagnostic.range, via, layer: "file" };
      this.collector.report({ rule: diagnostic.rule, message: diagnostic.message, key: "extends", at });
    }
  }

  private shownAt(origin: Origin): Range {
    const [first] = origin.via;
    return (first === undefined ? undefined : this.extender.parents.get(first)?.range) ?? startOfFile;
  }

  private result(
    root: MapNode,
    tree: JsonObject,
    origins: ReadonlyMap<string, Origin>,
    config: RunConfig | undefined,
  ): LoadedConfig {
    const { diagnostics } = this.collector;
    let plain: LoadedConfig["origins"] | undefined;
    return {
      config,
      diagnostics,
      readable: this.readable,
      tree,
      get origins() {
        return (plain ??= plainOrigins(origins));
      },
      files: this.extender.files,
      root,
      source: this.extender.source,
    };
  }
}

/** Whether the stage itself wrote the learning rate's schedule: then it spans the stage. */
const isStageClock = (stage: StageTree, tree: CheckedTree): boolean => {
  const node = child(child(child(tree.node, "update"), "optimizer"), "schedule");
  return stage.written !== undefined && node?.origin.stage !== undefined;
};

const plainOrigins = (origins: ReadonlyMap<string, Origin>): LoadedConfig["origins"] =>
  Object.fromEntries(
    [...origins].filter(([path]) => path !== "").map(([path, origin]) => [path, plainOrigin(origin)]),
  );

function plainOrigin({ file, range, via, layer }: Origin): ValueOrigin {
  if (layer === "default") return { file: "default", line: 0, via };
  return layer === "set"
    ? { file: `--set ${file}`, line: 0, via }
    : { file, line: range.start.line + 1, via };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`the config cannot be read: ${readFailure(error)}`, {
      file,
      code: "missing-file",
      cause: error,
      action: "Check the path, or make a config with `gradus init`.",
    });
  }
}
