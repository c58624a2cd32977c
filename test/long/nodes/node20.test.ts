/** A part of the tests passes under Node 20. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(20, "1/3");
