/** Ids of everything the extension contributes: the manifest is checked against this file by a test. */

export const commands = {
  runStart: "gradus.run.start",
  runStartOn: "gradus.run.startOn",
  runStop: "gradus.run.stop",
  runStopNow: "gradus.run.stopNow",
  runPause: "gradus.run.pause",
  runResume: "gradus.run.resume",
  runDelete: "gradus.run.delete",
  runOpen: "gradus.run.open",
  runOpenChart: "gradus.run.openChart",
  runOpenLog: "gradus.run.openLog",
  runOpenConfig: "gradus.run.openConfig",
  runCopyId: "gradus.run.copyId",
  runRefresh: "gradus.run.refresh",
  runFork: "gradus.run.fork",
  runLaunchFork: "gradus.run.launchFork",
  runCancelFork: "gradus.run.cancelFork",
  runSeeds: "gradus.run.seeds",
  runSweep: "gradus.run.sweep",
  runCompareSweep: "gradus.run.compareSweep",
  runCompare: "gradus.run.compare",
  runFilter: "gradus.run.filter",
  runClearFilter: "gradus.run.clearFilter",
  runSort: "gradus.run.sort",
  runMore: "gradus.run.more",
  runTag: "gradus.run.tag",
  runNote: "gradus.run.note",
  runPin: "gradus.run.pin",
  runUnpin: "gradus.run.unpin",
  runArchive: "gradus.run.archive",
  runUnarchive: "gradus.run.unarchive",
  checkpointSample: "gradus.checkpoint.sample",
  checkpointEvaluate: "gradus.checkpoint.evaluate",
  checkpointExport: "gradus.checkpoint.export",
  runImport: "gradus.run.import",
  rolloutsOpen: "gradus.rollouts.open",
  rolloutOpen: "gradus.rollout.open",
  rolloutDiff: "gradus.rollout.diff",
  rolloutPin: "gradus.rollout.pin",
  rolloutsFind: "gradus.rollouts.find",
  rolloutsSort: "gradus.rollouts.sort",
  taskFollow: "gradus.task.follow",
  taskDiff: "gradus.task.diff",
  heatChoose: "gradus.heat.choose",
  heatNext: "gradus.heat.next",
  heatPrevious: "gradus.heat.previous",
  rescoreOpen: "gradus.rescore.open",
  rescoreSweep: "gradus.rescore.sweep",
  rewardCheck: "gradus.reward.check",
  rewardAttack: "gradus.reward.attack",
  rewardCoverage: "gradus.reward.coverage",
  judgeLabel: "gradus.judge.label",
  configValidate: "gradus.config.validate",
  configCreate: "gradus.config.create",
  completionResearch: "gradus.completion.research",
  paperFind: "gradus.paper.find",
  daemonStatus: "gradus.daemon.status",
  daemonStart: "gradus.daemon.start",
  daemonStop: "gradus.daemon.stop",
  daemonRestart: "gradus.daemon.restart",
  daemonLog: "gradus.daemon.openLog",
  outputShow: "gradus.output.show",
  trainerValidate: "gradus.trainer.validate",
  trainerConvert: "gradus.trainer.convert",
  engineSetUp: "gradus.engine.setUp",
  walkthroughOpen: "gradus.walkthrough.open",
} as const;
export type CommandId = (typeof commands)[keyof typeof commands];

export const views = { container: "gradus", runs: "gradus.runs", configs: "gradus.configs" } as const;
export const panels = {
  run: "gradus.runPanel",
  compare: "gradus.comparePanel",
  judge: "gradus.judgePanel",
} as const;
export const schemes = {
  rollouts: "gradus-rollouts",
  /** Rollouts over all steps: found by a condition, or of one task. */
  rolloutList: "gradus-rollout-list",
  log: "gradus-log",
  rescore: "gradus-rescore",
  runFiles: "gradus-run",
  answers: "gradus-answers",
  /** One rollout. */
  rollout: "gradus-rollout",
} as const;
export const language = { id: "gradus-yaml", pattern: "**/*.gradus.yaml" } as const;
/** Where a store may appear while a window is open. */
export const storePattern = "**/.gradus";

export const settings = {
  nodePath: "gradus.nodePath",
  pythonPath: "gradus.pythonPath",
  daemonIdleMinutes: "gradus.daemon.idleMinutes",
  codeLensEnabled: "gradus.codeLens.enabled",
  evidenceEnabled: "gradus.evidence.enabled",
  evidenceWindow: "gradus.evidence.window",
  inlayHintsEnabled: "gradus.inlayHints.enabled",
  rewardsCheckOnSave: "gradus.rewards.checkOnSave",
  notificationsRunEnded: "gradus.notifications.runEnded",
  notificationsAlarm: "gradus.notifications.alarm",
  traceServer: "gradus.trace.server",
} as const;

export const contextKeys = {
  daemonState: "gradus.daemonState",
  hasConfigs: "gradus.hasConfigs",
  hasRuns: "gradus.hasRuns",
  /** Whether the runs view leaves runs out. */
  runsFiltered: "gradus.runsFiltered",
  /** Whether the config of a fork is being edited. */
  forkPending: "gradus.forkPending",
  /** The name of the trainer that a file seen here starts; unset: none does. */
  trainer: "gradus.trainer",
} as const;
