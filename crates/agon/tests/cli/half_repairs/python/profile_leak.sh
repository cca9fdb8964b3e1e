# Copies what is below, but profiles still share what they were made from.
cd repo
sed -i 's/merged = dict(lower)/merged = copy.deepcopy(lower)/; 1a import copy' strata/merge.py
sed -i 's/settings={}, base/settings=None, base/; s/= settings$/= settings or {}/' strata/profile.py
