"""The public names for type checkers and editors; `__init__.py` reads here where each is."""

from mauve_metric.apps.describing.describe import describe as describe
from mauve_metric.apps.describing.description import Description as Description
from mauve_metric.apps.generation.evaluator import evaluate_model as evaluate_model
from mauve_metric.apps.judging.boundaries import score_boundary_guesses as score_boundary_guesses
from mauve_metric.apps.judging.preferences import rank_by_preferences as rank_by_preferences
from mauve_metric.apps.sharding.score_sharded import score_sharded as score_sharded
from mauve_metric.apps.sharding.score_sharded import shard_pass as shard_pass
from mauve_metric.apps.studies.baseline import human_baseline as human_baseline
from mauve_metric.apps.studies.baseline_result import HumanBaseline as HumanBaseline
from mauve_metric.apps.studies.protocols import protocol as protocol
from mauve_metric.apps.studies.robustness import robustness as robustness
from mauve_metric.apps.studies.robustness_result import Robustness as Robustness
from mauve_metric.apps.studies.stress_test import stress_test as stress_test
from mauve_metric.apps.studies.stress_test_result import StressTest as StressTest
from mauve_metric.clustering.histograms import Histograms as Histograms
from mauve_metric.features.embedding_server import embedding_server as embedding_server
from mauve_metric.features.feature_set import FeatureSet as FeatureSet
from mauve_metric.features.feature_set import featurize as featurize
from mauve_metric.hosts.trainer.callback import MauveCallback as MauveCallback
from mauve_metric.hosts.trainer.callback import MauveTrainerMixin as MauveTrainerMixin
from mauve_metric.inputs.files import TextFile as TextFile
from mauve_metric.inputs.files import read_texts as read_texts
from mauve_metric.options import MauveConfig as MauveConfig
from mauve_metric.results.comparison import Comparison as Comparison
from mauve_metric.results.comparison import Difference as Difference
from mauve_metric.results.explanation import Explanation as Explanation
from mauve_metric.results.result import MauveResult as MauveResult
from mauve_metric.scoring.compare import compare as compare
from mauve_metric.scoring.compute import compute_mauve as compute_mauve
from mauve_metric.scoring.explain import explain as explain
from mauve_metric.scoring.pairs import compare_pairs as compare_pairs
from mauve_metric.uncertainty.score_warnings import ScoreWarning as ScoreWarning
from mauve_metric.version import __version__ as __version__

def evaluate_path() -> str: ...
