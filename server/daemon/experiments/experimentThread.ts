/** The thread that fits forecasts and draws tasks again: either would hold up the daemon for a moment. */
import { parentPort, workerData } from "node:worker_threads";
import { outcome, type Experiment } from "./experiment.ts";

if (parentPort !== null) parentPort.postMessage(outcome(workerData as Experiment));
