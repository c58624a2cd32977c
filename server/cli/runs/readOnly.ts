/** A store in a folder that cannot be written: its logs are read into tables in memory, and questions answered from there. */
import { CancellationToken } from "vscode-jsonrpc/node";
import type { Requester } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { workerIsAlive } from "../../../shared/run/lease.ts";
import * as protocol from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { answers, type Handlers } from "../../daemon/answers.ts";
import { reviewConfig } from "../../daemon/config/review.ts";
import { boundaryBetween } from "../../daemon/experiments/boundary.ts";
import { compare } from "../../daemon/experiments/compare.ts";
import { here } from "../../daemon/experiments/experiment.ts";
import { forecasts } from "../../daemon/experiments/forecast.ts";
import { runFolder } from "../../store/files.ts";
import { Store } from "../../store/store.ts";

interface ReadOnlyRequester extends Requester {
  close(): void;
}

/** Reads all runs. Nothing is written. */
export function readOnly(folder: string): ReadOnlyRequester {
  const store = new Store(folder, { anyThread: true, inMemory: true });
  for (const { run } of store.scan()) settle(store, folder, run);
  const handlers = handlersOf(store);
  return {
    sendRequest: async (method, parameters) => {
      const handler = handlers[method];
      if (handler === undefined) throw refused(folder);
      await store.ready();
      return handler(parameters, CancellationToken.None);
    },
    close: () => store.close(),
  };
}

/** As the daemon does: a run whose process is gone and whose log records no end was interrupted. */
function settle(store: Store, folder: string, run: string): void {
  store.ingestAll(run);
  const status = store.ingest.recordedStatus(run);
  if (status === undefined || !isLive(status) || workerIsAlive(runFolder(folder, run))) return;
  const message = store.queries.damage(run).at(-1) ?? "The run's process ended without finishing.";
  store.ingest.setStatus(run, "interrupted", message);
}

function handlersOf({ queries }: Store): Handlers {
  return {
    ...answers(protocol.runsList, async (parameters) => queries.list(parameters)),
    ...answers(protocol.runsShow, async (parameters) => queries.show(parameters)),
    ...answers(protocol.runsVerdict, async (parameters) => queries.verdict(parameters)),
    ...answers(protocol.runsCompare, (parameters) => compare(queries, parameters)),
    ...answers(protocol.runsForecast, (parameters) => forecasts(queries, parameters, here)),
    ...answers(protocol.runsBoundary, (parameters) => boundaryBetween(queries, parameters, here)),
    ...answers(protocol.configReview, async ({ run, text }) =>
      reviewConfig(queries.show({ run }), queries.evaluations({ run, tasks: true }).evaluations, text),
    ),
    ...answers(protocol.metricsNames, async (parameters) => queries.names(parameters)),
    ...answers(protocol.metricsSeries, async (parameters) => queries.series(parameters)),
    ...answers(protocol.groupsQuery, async (parameters) => queries.groups(parameters)),
    ...answers(protocol.curriculumQuery, async (parameters) => queries.curriculum(parameters)),
    ...answers(protocol.eventsQuery, async (parameters) => queries.events(parameters)),
    ...answers(protocol.evaluationsQuery, async (parameters) => queries.evaluations(parameters)),
    ...answers(protocol.tasksQuery, async (parameters) => queries.tasks(parameters)),
    ...answers(protocol.matrixQuery, async (parameters) => queries.matrix(parameters)),
    ...answers(protocol.judgeDraw, async (parameters) => queries.judgeDraw(parameters)),
    ...answers(protocol.rolloutsQuery, async (parameters) => queries.rollouts(parameters)),
  };
}

const refused = (folder: string): UserError =>
  new UserError(`The store ${folder} cannot be written: its runs can only be read.`, {
    file: folder,
    code: "store-not-writable",
    action: "Make the folder writable, or copy it to a folder that you may write to.",
  });
