//===- WeightLayout.cpp - which weights are stored, and where ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Weights are compared by their recipes with all names resolved: variants are
// clones, and a weight that two layers share has one recipe. The layout's hash
// covers names, types and these recipes, so that a weights file fits exactly
// the objects for which it was written.
//
//===----------------------------------------------------------------------===//

#include "WeightLayout.h"
#include "ModelInterface.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

static std::string hexDigest(llvm::SHA256 &hash) {
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// The digest of the elements of a constant.
static std::string digest(ElementsAttr elements) {
  llvm::SHA256 hash;
  auto update = [&](ArrayRef<char> data) {
    hash.update(StringRef(data.data(), data.size()));
  };
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      update(blob->getData());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    update(dense.getRawData());
  }
  return hexDigest(hash);
}

/// A recipe with all names resolved. Recipes were checked: they end.
static std::string getKey(ModuleOp module, WeightOp weight) {
  auto getPartKey = [&](FlatSymbolRefAttr name) {
    return getKey(module,
                  cast<WeightOp>(SymbolTable::lookupSymbolIn(module, name)));
  };
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::TypeSwitch<Attribute>(weight.getRecipe())
      .Case([&](SourceAttr source) {
        os << "source(" << source.getFile() << "," << source.getTensor() << ")";
      })
      .Case([&](BytesAttr bytes) {
        os << "bytes(" << bytes.getFile() << "," << bytes.getOffset() << ")";
      })
      .Case([&](ValueAttr value) {
        os << "value(" << digest(value.getElements()) << ")";
      })
      .Case([&](ConcatAttr concat) {
        os << "concat(" << concat.getAxis();
        for (FlatSymbolRefAttr name : concat.getWeights())
          os << "," << getPartKey(name);
        os << ")";
      })
      .Case([&](PackAttr pack) {
        os << "pack(" << pack.getPanel() << "," << getPartKey(pack.getWeight())
           << ")";
      });
  os << ":" << weight.getType();
  return key;
}

/// A weight as a matrix in panels of some width, 0 where it is not packed.
static std::pair<WeightOp, int64_t> getMatrix(ModuleOp module,
                                              WeightOp weight) {
  auto pack = dyn_cast<PackAttr>(weight.getRecipe());
  if (!pack)
    return {weight, 0};
  return {cast<WeightOp>(SymbolTable::lookupSymbolIn(module, pack.getWeight())),
          pack.getPanel()};
}

namespace {
struct LayoutBuilder {
  WeightLayout layout;
  /// Stored weights by key, and by the key of their matrix.
  llvm::StringMap<int32_t> byKey, byMatrix;
  std::vector<std::string> keys;
  std::vector<int64_t> panels;

  int32_t store(ModuleOp module, WeightOp weight) {
    int32_t number = layout.stored.size();
    auto [matrix, panel] = getMatrix(module, weight);
    keys.push_back(getKey(module, weight));
    panels.push_back(panel);
    byKey[keys.back()] = number;
    byMatrix.try_emplace(getKey(module, matrix), number);
    layout.stored.push_back({weight.getSymName().str(), weight, 0,
                             static_cast<uint64_t>(getWeightBytes(weight))});
    return number;
  }

  attn_variant_weight place(ModuleOp module, WeightOp weight) {
    auto type = cast<RankedTensorType>(weight.getType());
    attn_variant_weight entry = {};
    entry.size = getWeightBytes(weight);
    entry.element_size = getElementBytes(type.getElementType());
    if (auto it = byKey.find(getKey(module, weight)); it != byKey.end()) {
      entry.stored = it->second;
      return entry;
    }
    auto [matrix, panel] = getMatrix(module, weight);
    auto it = byMatrix.find(getKey(module, matrix));
    auto matrixType = cast<RankedTensorType>(matrix.getType());
    if (it == byMatrix.end() || matrixType.getRank() != 2) {
      entry.stored = store(module, weight);
      return entry;
    }
    entry.stored = it->second;
    entry.from_panel = panels[it->second];
    entry.to_panel = panel;
    entry.n = matrixType.getDimSize(0);
    entry.k = matrixType.getDimSize(1);
    return entry;
  }

  void finish() {
    uint64_t end = sizeof(attn_weights_header) +
                   layout.stored.size() * sizeof(attn_weights_entry);
    llvm::SHA256 hash;
    for (auto [weight, key] : llvm::zip_equal(layout.stored, keys)) {
      weight.offset = llvm::alignTo(end, ATTN_WEIGHTS_ALIGNMENT);
      end = weight.offset + weight.size;
      hash.update(weight.name);
      hash.update(StringRef("=", 1));
      hash.update(key);
      hash.update(StringRef("\0", 1));
    }
    layout.fileSize = end;
    layout.hash = hash.final();
  }
};
} // namespace

FailureOr<WeightLayout>
attn::computeWeightLayout(ArrayRef<VariantWeights> variants,
                          StringRef sourceDir) {
  LayoutBuilder builder;
  bool failed = false;
  for (const VariantWeights &variant : variants) {
    WeightResolver resolver(variant.module, sourceDir);
    for (StringRef name : variant.names) {
      auto weight = dyn_cast_or_null<WeightOp>(
          SymbolTable::lookupSymbolIn(variant.module, name));
      failed |= !weight || mlir::failed(resolver.check(weight));
    }
    if (failed) // the other variants are clones and would say the same
      return failure();
    std::vector<attn_variant_weight> entries;
    for (StringRef name : variant.names)
      entries.push_back(builder.place(
          variant.module,
          cast<WeightOp>(SymbolTable::lookupSymbolIn(variant.module, name))));
    builder.layout.variants.push_back(std::move(entries));
  }
  builder.finish();
  return std::move(builder.layout);
}

LogicalResult attn::writeWeights(const WeightLayout &layout,
                                 StringRef modelName, StringRef sourceDir,
                                 raw_ostream &os,
                                 llvm::function_ref<bool()> isBroken) {
  static_assert(sizeof(attn_weights_header) == 128,
                "the header is a format, not a convenience");
  static_assert(llvm::endianness::native == llvm::endianness::little,
                "the file is little-endian and written from memory");
  attn_weights_header header = {};
  memcpy(header.magic, ATTN_WEIGHTS_MAGIC, sizeof header.magic);
  header.version = ATTN_WEIGHTS_VERSION;
  header.header_size = sizeof header;
  header.file_size = layout.fileSize;
  header.count = layout.stored.size();
  header.table = sizeof header;
  memcpy(header.layout, layout.hash.data(), layout.hash.size());
  StringRef shortName = modelName.take_front(sizeof header.model - 1);
  memcpy(header.model, shortName.data(), shortName.size());
  os.write(reinterpret_cast<const char *>(&header), sizeof header);
  for (const StoredWeight &weight : layout.stored) {
    attn_weights_entry entry = {weight.offset, weight.size};
    os.write(reinterpret_cast<const char *>(&entry), sizeof entry);
  }
  uint64_t written =
      sizeof header + layout.stored.size() * sizeof(attn_weights_entry);
  std::optional<WeightResolver> resolver;
  ModuleOp module;
  for (const StoredWeight &stored : layout.stored) {
    WeightOp weight = stored.weight;
    if (auto parent = weight->getParentOfType<ModuleOp>(); parent != module) {
      module = parent;
      resolver.emplace(module, sourceDir);
    }
    os.write_zeros(stored.offset - written);
    auto sink = [&](ArrayRef<char> chunk) {
      os.write(chunk.data(), chunk.size());
      // Gigabytes into a full disk would only take time.
      return failure(isBroken && isBroken());
    };
    if (failed(resolver->stream(weight, sink)))
      return failure();
    written = stored.offset + stored.size;
  }
  return success();
}
