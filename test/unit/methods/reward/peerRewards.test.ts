/** Rewards as verl and TRL ship them, where a Python that has them is named. */
import { describe } from "node:test";
import { trlRewards, verlRewards } from "../../../support/shippedRewards.ts";

const python = process.env["GRADUS_PEER_PYTHON"];

describe("verl's rewards", () => verlRewards(python, "GRADUS_PEER_PYTHON names no Python with verl"));
describe("TRL's rewards", () => trlRewards(python, "GRADUS_PEER_PYTHON names no Python with trl"));
