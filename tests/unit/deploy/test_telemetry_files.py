"""The dashboard and the alert rules use only metrics and labels that the code emits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY

import deploy
from services.runtime.instruments import INSTRUMENTS, Kind, counter, gauge, histogram

FOLDER = Path(deploy.__file__).parent / "telemetry"
# The PromQL keywords and functions in these files.
WORDS = {
    *("sum", "max", "min", "by", "rate", "increase", "histogram_quantile", "topk", "offset"),
    *("on", "group_left", "le"),
}
_STRING = re.compile(r'"[^"]*"')
_RANGE = re.compile(r"\[[^\]]*\]|\boffset \w+")
_NAME = re.compile(r"[a-z_A-Z][a-z_A-Z0-9]*")
_LABELS = re.compile(r"\{([^}]*)\}|(?:by|on|group_left) \(([^)]*)\)")


@pytest.fixture(scope="module")
def emitted() -> Iterator[Mapping[str, set[str]]]:
    """Returns the labels of each series of this code's instruments, by the name that Prometheus exports."""
    provider = MeterProvider([PrometheusMetricReader()])
    meter = provider.get_meter("braid")
    for one in INSTRUMENTS:
        attributes = dict.fromkeys(one.attributes, "x")
        if one.kind is Kind.COUNTER:
            counter(one, meter).add(1, attributes)
        elif one.kind is Kind.HISTOGRAM:
            histogram(one, meter).record(1, attributes)
        else:
            observed = [Observation(1, attributes)]
            gauge(one, lambda _options, observed=observed: observed, meter)  # type: ignore[misc]
    yield {
        sample.name: set(sample.labels)
        for family in REGISTRY.collect()
        for sample in family.samples
    }
    provider.shutdown()


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [*shown, *(rule["expr"] for rule in rules())]


def names(expression: str) -> set[str]:
    """Returns the metrics in an expression."""
    bare = _LABELS.sub(" ", _RANGE.sub(" ", _STRING.sub(" ", expression)))
    return set(_NAME.findall(bare)) - WORDS


def labels(expression: str) -> set[str]:
    """Returns the labels in an expression."""
    groups = (a or b for a, b in _LABELS.findall(_STRING.sub(" ", expression)))
    return {name for group in groups for name in _NAME.findall(group)} - {"le"}


@pytest.mark.parametrize("expression", expressions())
def test_each_expression_uses_only_metrics_and_labels_that_the_code_emits(
    expression: str, emitted: Mapping[str, set[str]]
) -> None:
    found = names(expression)
    assert found
    assert found <= emitted.keys()
    assert labels(expression) <= set().union(*(emitted[name] for name in found))
    assert expression.count("(") == expression.count(")")


@pytest.mark.parametrize("expression", expressions())
def test_prometheus_can_parse_each_expression(expression: str) -> None:
    promql_parser.parse(expression.replace("$__rate_interval", "5m"))


def test_every_declared_metric_is_on_the_dashboard() -> None:
    shown = " ".join(target["expr"] for panel in panels() for target in panel["targets"])
    missing = [one.name for one in INSTRUMENTS if one.name.replace(".", "_") not in shown]
    assert missing == []


def test_each_rule_has_the_fields_that_prometheus_requires() -> None:
    found = rules()
    assert len({rule["alert"] for rule in found}) == len(found)
    for rule in found:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"]
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
        referenced = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert referenced <= labels(rule["expr"])


def test_the_required_alerts_exist() -> None:
    assert {rule["alert"] for rule in rules()} >= {
        "BraidRefusedCredentials",
        "BraidKeySpike",
        "BraidSlowStatements",
        "BraidIngestionLag",
        "BraidLegNotOk",
        "BraidReplicaLag",
    }


def test_the_kubernetes_network_policy_admits_scrapes_on_the_metrics_port() -> None:
    folder = FOLDER.parent / "kubernetes" / "components" / "metrics"
    patches = {
        patch["target"]["kind"]: yaml.safe_load(patch["patch"])[0]
        for patch in yaml.safe_load((folder / "kustomization.yaml").read_text())["patches"]
    }
    served = patches["ConfigMap"]
    assert served["path"] == "/data/BRAID_METRICS_LISTEN"
    port = served["value"].rpartition(":")[2]
    assert patches["Deployment"]["value"]["prometheus.io/port"] == port
    [rule] = yaml.safe_load((folder / "network.yaml").read_text())["spec"]["ingress"]
    assert [entry["port"] for entry in rule["ports"]] == [int(port)]
    assert rule["from"]


def test_the_rules_for_the_metrics_adapter_serve_what_the_autoscalers_ask_for(
    emitted: Mapping[str, set[str]],
) -> None:
    folder = FOLDER.parent / "kubernetes" / "components" / "queue-scaling"
    rules_of = yaml.safe_load((folder / "adapter-rules.yaml").read_text())["rules"]
    served = {rule["name"]["as"] for kind in ("custom", "external") for rule in rules_of[kind]}
    asked = {
        (step["value"].get("pods") or step["value"]["external"])["metric"]["name"]
        for path in (folder / "pool-pressure.yaml", folder / "backlog.yaml")
        for step in yaml.safe_load(path.read_text())
    }
    assert served == asked
    assert served <= emitted.keys()
    for kind in ("custom", "external"):
        for rule in rules_of[kind]:
            promql_parser.parse(rule["seriesQuery"])
            query = rule["metricsQuery"].replace("<<.Series>>", rule["name"]["as"])
            query = query.replace("<<.GroupBy>>", "pod").replace("<<.LabelMatchers>>", 'pod="x"')
            promql_parser.parse(query)
