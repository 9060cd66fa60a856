"""The Dockerfile, Compose file and Kubernetes manifests satisfy their schemas and the needs of the processes."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate.utils import validate

from deploy.images.lock_extra import locked_blocks
from services.runtime.health import ALIVE

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
OVERLAYS = sorted(path for path in (DEPLOY / "kubernetes" / "overlays").iterdir() if path.is_dir())
KUBERNETES = "1.34"


def documents(text: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one]


def manifests() -> list[dict[str, Any]]:
    files = (path for path in sorted(BASE.glob("*.yaml")) if path.name != "kustomization.yaml")
    return [one for path in files for one in documents(path.read_text())]


def workloads() -> list[dict[str, Any]]:
    return [one for one in manifests() if one["kind"] in ("Deployment", "Job")]


def rendered(overlay: Path) -> list[dict[str, Any]]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("needs kubectl to render overlays")
    answer = subprocess.run(
        [kubectl, "kustomize", str(overlay)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert answer.returncode == 0, answer.stderr
    return documents(answer.stdout)


def instructions() -> list[str]:
    text = (DEPLOY / "Dockerfile").read_text()
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def test_every_package_in_the_lock_has_hashes() -> None:
    blocks = locked_blocks((ROOT / "requirements.lock").read_text())
    assert len(blocks) > 100
    assert [
        name for name, lines in blocks.items() if not any("--hash" in line for line in lines)
    ] == []


@pytest.mark.parametrize("target", ["vector", "graph", "agent", "gateway"])
def test_each_service_has_its_own_image_with_a_health_check_and_without_root(target: str) -> None:
    lines = instructions()
    start = next(at for at, line in enumerate(lines) if line == f"FROM runtime AS {target}")
    stage = []
    for line in lines[start + 1 :]:
        if line.startswith("FROM "):
            break
        stage.append(line)
    words = [line.split()[0] for line in stage]
    assert "HEALTHCHECK" in words
    assert "ENTRYPOINT" in words
    assert "USER" not in words
    assert f"COPY --from=build-{target} /venv /venv" in stage
    assert any(line.startswith("USER 10001") for line in lines)
    assert any("--require-hashes" in line and f"lock_extra.py {target} " in line for line in lines)


def test_images_copy_only_the_listed_services() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY --from=build /src/(\S+)", text, re.MULTILINE)
    assert sorted(one for one in copied if one.startswith("services/")) == [
        "services/__init__.py",
        "services/agent_orchestrator",
        "services/graph_query",
        "services/models",
        "services/models",
        "services/models",
        "services/postgres",
        "services/postgres",
        "services/runtime",
        "services/vector_search",
    ]


@pytest.mark.parametrize(
    "manifest", manifests(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}"
)
def test_manifests_satisfy_the_kubernetes_schema(manifest: dict[str, Any]) -> None:
    validate(manifest, KUBERNETES, strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_overlays_render_to_valid_manifests_in_one_namespace(overlay: Path) -> None:
    found = rendered(overlay)
    for one in found:
        validate(one, KUBERNETES, strict=True)
    assert {one["metadata"]["namespace"] for one in found} == {"braid"}
    assert {one["metadata"]["labels"]["app.kubernetes.io/part-of"] for one in found} == {"braid"}


@pytest.mark.parametrize("workload", workloads(), ids=lambda one: one["metadata"]["name"])
def test_containers_run_without_root_with_a_read_only_file_system_and_bounded_memory(
    workload: dict[str, Any],
) -> None:
    pod = workload["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"]
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()


def test_every_deployment_has_probes_a_disruption_budget_and_an_autoscaler() -> None:
    by_kind: dict[str, set[str]] = {}
    for one in manifests():
        by_kind.setdefault(one["kind"], set()).add(one["metadata"]["name"])
    deployments = {"vector", "graph", "agent", "worker", "gateway"}
    assert by_kind["Deployment"] == deployments
    assert by_kind["PodDisruptionBudget"] == deployments
    assert by_kind["HorizontalPodAutoscaler"] == deployments
    for one in workloads():
        if one["kind"] == "Deployment":
            (container,) = one["spec"]["template"]["spec"]["containers"]
            assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()


def test_the_termination_grace_period_covers_the_drain() -> None:
    (settings,) = (one["data"] for one in manifests() if one["kind"] == "ConfigMap")
    drain = sum(float(settings[f"BRAID_DRAIN_{name}SECONDS"]) for name in ("DELAY_", ""))
    for one in workloads():
        if one["kind"] != "Deployment":
            continue
        pod = one["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        assert pod["terminationGracePeriodSeconds"] >= pause + drain + 5
        if one["metadata"]["name"] != "worker":  # it serves no calls
            assert pause >= 5


def test_a_rollout_ends_no_replica_before_clients_have_discovered_the_new_one() -> None:
    for one in workloads():
        if one["kind"] != "Deployment":
            continue
        assert one["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        if one["metadata"]["name"] != "worker":  # it serves no calls
            assert one["spec"]["minReadySeconds"] >= 5


def test_an_unavailable_store_fails_readiness_but_not_liveness() -> None:
    for one in workloads():
        if one["kind"] != "Deployment":
            continue
        (container,) = one["spec"]["template"]["spec"]["containers"]
        probes = {name: container[f"{name}Probe"] for name in ("startup", "liveness", "readiness")}
        if one["metadata"]["name"] == "gateway":
            paths = {name: probe["httpGet"]["path"] for name, probe in probes.items()}
            assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
        else:
            checked = {name: probe["grpc"].get("service") for name, probe in probes.items()}
            assert checked == {"startup": ALIVE, "liveness": ALIVE, "readiness": None}


def test_grpc_services_are_headless_so_that_clients_discover_each_replica() -> None:
    services = {one["metadata"]["name"]: one for one in manifests() if one["kind"] == "Service"}
    for name in ("vector", "graph", "agent"):
        assert services[name]["spec"]["clusterIP"] == "None"


def test_each_process_gets_only_the_secrets_of_its_own_store() -> None:
    stores = {
        one["metadata"]["name"]: {
            entry["valueFrom"]["secretKeyRef"]["key"]
            for entry in one["spec"]["template"]["spec"]["containers"][0].get("env", [])
            if entry["valueFrom"]["secretKeyRef"]["name"] == "braid-stores"
        }
        for one in workloads()
    }
    assert stores == {
        "vector": {"vector-writer-url", "vector-reader-url", "vector-replica-urls"},
        "graph": {"neo4j-uri", "neo4j-user", "neo4j-password"},
        "agent": {"agent-url"},
        "worker": {"agent-url"},
        "gateway": set(),
        "migrate-vector-0-1-0": {"vector-writer-url", "vector-reader-url", "vector-migrator-url"},
        "migrate-agent-0-1-0": {"agent-url", "agent-migrator-url"},
    }


def test_only_the_processes_with_models_get_the_keys_of_model_providers() -> None:
    users = {
        one["metadata"]["name"]
        for one in workloads()
        for source in one["spec"]["template"]["spec"]["containers"][0].get("envFrom", [])
        if source.get("secretRef", {}).get("name") == "braid-models"
    }
    assert users == {"vector", "graph", "agent", "worker"}
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert "LLM_API_KEY" in services["worker"]["environment"]
    assert "LLM_API_KEY" not in services["gateway"]["environment"]


def test_what_the_overlays_set_needs_no_secret_that_the_guide_does_not_create() -> None:
    for overlay in OVERLAYS:
        for path in overlay.glob("*.yaml"):
            for one in documents(path.read_text()):
                if isinstance(one, dict) and one.get("kind") == "ConfigMap":
                    assert "EMBEDDING_PROVIDER" not in one["data"]


def test_migration_jobs_are_named_after_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    suffix = f"-{project['version'].replace('.', '-')}"
    jobs = [one["metadata"]["name"] for one in workloads() if one["kind"] == "Job"]
    assert len(jobs) == 2
    assert all(name.endswith(suffix) for name in jobs)


def test_every_image_of_an_overlay_has_the_version_as_its_tag() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for overlay in OVERLAYS:
        [images] = [
            one["images"] for one in documents((overlay / "kustomization.yaml").read_text())
        ]
        assert {one["name"] for one in images} == {
            one["spec"]["template"]["spec"]["containers"][0]["image"] for one in workloads()
        }
        assert {one["newTag"] for one in images} == {project["version"]}


def test_only_named_peers_may_connect() -> None:
    policies = [one for one in manifests() if one["kind"] == "NetworkPolicy"]
    rules = [rule for one in policies for rule in one["spec"].get("ingress", [])]
    assert rules
    assert all(rule.get("from") for rule in rules)


def test_compose_mounts_the_folder_of_the_keys_as_the_file_is_replaced() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in compose["services"].items():
        if name not in ("postgres", "neo4j"):
            assert service["volumes"] == ["./compose/secrets/keys:/etc/braid/keys:ro"]
            file = service["environment"]["BRAID_API_KEYS_FILE"]
            assert file == "/etc/braid/keys/api_keys.json"
    script = (DEPLOY / "compose" / "secrets.sh").read_text()
    assert "secrets/keys/api_keys.json" in script


def test_compose_starts_services_after_migrations_and_publishes_only_on_loopback() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert (
        services["vector"]["depends_on"]["migrate-vector"]["condition"]
        == "service_completed_successfully"
    )
    assert (
        services["agent"]["depends_on"]["migrate-agent"]["condition"]
        == "service_completed_successfully"
    )
    for name, service in services.items():
        if name in ("postgres", "neo4j"):
            continue
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert "NEO4J_PASSWORD" not in services["vector"]["environment"]
    assert "DATABASE_URL" not in services["graph"]["environment"]


def test_compose_is_valid_for_docker() -> None:
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("needs Docker's command")
    version = subprocess.run(
        [docker, "compose", "version"], capture_output=True, check=False, timeout=30
    )
    if version.returncode:
        pytest.skip("needs the Compose plugin of Docker")
    names = re.findall(r"\$\{([A-Z0-9_]+)", (DEPLOY / "compose.yaml").read_text())
    answer = subprocess.run(
        [docker, "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "--quiet"],
        env={"PATH": "/usr/bin:/bin", **dict.fromkeys(names, "x")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert answer.returncode == 0, answer.stderr


def test_images_contain_the_generated_packages_that_their_processes_import() -> None:
    """Finds the imports by their import statements."""
    text = (DEPLOY / "Dockerfile").read_text()
    copied = set(re.findall(r"^COPY --from=build /src/(\S+)", text, re.MULTILINE))
    for package in ("braid", "braid_protocol"):
        pattern = re.compile(rf"^\s*(from|import) {package}\b", re.MULTILINE)
        assert any(pattern.search(file.read_text()) for file in (ROOT / "services").rglob("*.py"))
    assert {"protos/gen", "protos/clients/python/braid_protocol"} <= copied
    paths = re.search(r"PYTHONPATH=(\S+)", text)
    assert paths is not None
    assert paths[1].split(":") == ["/app", "/app/protos/gen", "/app/protos/clients/python"]


def with_tls() -> list[dict[str, Any]]:
    """Returns the base manifests with the TLS component's patches applied."""
    folder = DEPLOY / "kubernetes" / "components" / "tls"
    component = yaml.safe_load((folder / "kustomization.yaml").read_text())
    found = manifests()
    for entry in component["patches"]:
        target = entry["target"]
        for one in found:
            if one["kind"] == target["kind"] and target.get("name") in (
                None,
                one["metadata"]["name"],
            ):
                for step in yaml.safe_load(entry["patch"]):
                    apply_step(one, step)
    return found


def apply_step(document: Any, step: dict[str, Any]) -> None:
    """Applies one `add` or `replace` of a JSON patch."""
    *parents, last = step["path"].strip("/").split("/")
    for name in parents:
        document = document[int(name)] if isinstance(document, list) else document[name]
    if last == "-":
        document.append(step["value"])
    else:
        assert step["op"] == "add" or last in document
        document[last] = step["value"]


def test_the_tls_component_mounts_each_certificate_and_makes_probes_use_it() -> None:
    found = with_tls()
    for one in found:
        validate(one, KUBERNETES, strict=True)
    settings = next(one for one in found if one["kind"] == "ConfigMap")["data"]
    for one in found:
        if one["kind"] != "Deployment":
            continue
        name, pod = one["metadata"]["name"], one["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        volume = next(volume for volume in pod["volumes"] if volume["name"] == "tls")
        mount = next(mount for mount in container["volumeMounts"] if mount["name"] == "tls")
        assert volume["secret"]["secretName"] == f"{name}-tls"
        for setting in ("CERT_FILE", "KEY_FILE", "CA_FILE", "CLIENT_CA_FILE"):
            assert Path(settings[f"BRAID_TLS_{setting}"]).parent == Path(mount["mountPath"])
        if name != "gateway":
            for probe, alive in (("startup", True), ("liveness", True), ("readiness", False)):
                assert "grpc" not in container[f"{probe}Probe"]
                command = container[f"{probe}Probe"]["exec"]["command"]
                assert "services.runtime.healthcheck" in command
                assert ("--alive" in command) is alive


def test_every_process_mounts_the_api_key_file_read_only() -> None:
    for one in manifests():
        if one["kind"] != "Deployment":
            continue
        pod = one["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert {"name": "keys", "secret": {"secretName": "braid-api-keys"}} in pod["volumes"]
        mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
        assert mounts["keys"]["readOnly"] is True
